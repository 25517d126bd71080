//go:build tools

package tools

import _ "gotest.tools/gotestsum"
