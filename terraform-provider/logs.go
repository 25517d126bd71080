package main

import "strings"

// sdkLevel names the variable that says what the libraries below log.
const sdkLevel = "TF_LOG_SDK"

// wantsLogs reports whether an environment asks for logs in any of the ways
// that Terraform and OpenTofu have. Unless it does, each call's traces would be
// put together, written to the CLI and dropped there: a sixth of our time.
func wantsLogs(environ []string) bool {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "TF_LOG") && value != "" {
			return true
		}
	}
	return false
}
