package workload

import "strings"

// Option is the value of an engine's option, written as two arguments or as
// one with an equals sign; empty if it is not there. The last one counts.
func Option(args []string, name string) string {
	value := ""
	for i, a := range args {
		if a == name && i+1 < len(args) {
			value = args[i+1]
		}
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			value = v
		}
	}
	return value
}
