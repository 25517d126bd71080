//go:build tools

// Package tools pins Helm, which installs the chart in tests.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
