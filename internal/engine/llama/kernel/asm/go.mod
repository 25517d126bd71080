// The generator of the kernels for amd64 is a module of its own, so that what it
// depends on never reaches us.
module github.com/gorizond/koldun/internal/engine/llama/kernel/asm

go 1.26.0

require github.com/mmcloughlin/avo v0.6.0

require (
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
