//go:build tools

// Package tools pins Crossplane's command-line interface: render, beta validate
// and beta trace. Later versions of Crossplane keep it in another repository.
package tools

import _ "github.com/crossplane/crossplane/v2/cmd/crank"
