//go:build tools

// Package tools pins gotestsum, which runs tests and repeats those that failed.
package tools

import _ "gotest.tools/gotestsum"
