//go:build tools

// Package tools pins controller-gen, which makes CRDs and deep copies.
package tools

import _ "sigs.k8s.io/controller-tools/cmd/controller-gen"
