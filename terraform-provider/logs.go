package main

import "strings"

// sdkLevel is the variable with the log level of the plugin libraries.
const sdkLevel = "TF_LOG_SDK"

// wantsLogs reports whether a variable of Terraform or OpenTofu enables logs.
// Without one the CLI would drop all traces, and formatting and sending them
// takes a sixth of the provider's time.
func wantsLogs(environ []string) bool {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "TF_LOG") && value != "" {
			return true
		}
	}
	return false
}
