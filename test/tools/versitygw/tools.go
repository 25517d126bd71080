//go:build tools

// Package tools pins versitygw, the S3 server of the Helm chart.
package tools

import _ "github.com/versity/versitygw/cmd/versitygw"
