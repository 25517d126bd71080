//go:build tools

// Package tools pins gremlins, which changes the code of pure packages and runs
// their tests, to find code that no test holds.
package tools

import _ "github.com/go-gremlins/gremlins/cmd/gremlins"
