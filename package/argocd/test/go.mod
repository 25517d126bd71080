// The interpreter of Lua is for this test alone, so it stays out of the module
// that is shipped.
module github.com/gorizond/koldun/package/argocd/test

go 1.26.0

require (
	github.com/yuin/gopher-lua v1.1.1
	gopkg.in/yaml.v3 v3.0.1
)
