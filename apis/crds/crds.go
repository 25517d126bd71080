// Package crds holds the CustomResourceDefinitions that make generate writes
// from the Go types.
package crds

import "embed"

// Files are the generated definitions, one YAML document a file.
//
//go:embed *.yaml
var Files embed.FS
