package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// complaints are the words in which programs refuse an argument, before or after a page
// of usage: argparse and click (vLLM, SGLang), clap (TGI), Go's flag, pflag and kong
// (Ollama, LocalAI), and llama.cpp.
var complaints = regexp.MustCompile(`(?i)unrecognized arguments?:|error: argument [-\w/]+: |arguments are required:|no such option:|invalid value for '|` +
	`unexpected argument '|invalid value '.*' for '|flag provided but not defined|unknown (shorthand )?flag|unknown option|invalid argument:|unrecognized option`)

// complaint returns the line in which a program refuses an argument; empty if its last
// words have none.
func complaint(words string) string {
	for _, line := range strings.Split(words, "\n") {
		if complaints.MatchString(line) {
			return short(line)
		}
	}
	return ""
}

// refusedArgument returns the problem of a container whose program refuses an argument.
// It would end so again, so one end is enough.
func refusedArgument(p *corev1.Pod, c corev1.Container, t corev1.ContainerStateTerminated) Diagnosis {
	line := complaint(t.Message)
	if line == "" {
		return Diagnosis{}
	}
	args := fieldsOf(p.Labels, c.Name).args
	if args == "" {
		args = "the arguments"
	}
	return Diagnosis{Reason: ArgumentRefused, Message: fmt.Sprintf(
		"Pod %q: the program of container %q refuses an argument (exit status %d): %s; correct %s", p.Name, c.Name, t.ExitCode, line, args)}
}
