//go:build tools

// Package tools pins the Crossplane core of the test cluster, its CRDs and the
// manifests of its Helm chart.
package tools

import _ "github.com/crossplane/crossplane/v2/cmd/crossplane"
