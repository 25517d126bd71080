package node_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// describes tests that kubectl describe tells users that a Dllama is served on so many nodes,
// and kubectl explain what its fields are for.
func (cl *claims) describes(t *testing.T, name, nodes string) {
	t.Helper()
	description := cl.Kubectl(t, "describe", "dllama", name)
	told := conditions(description)
	tell("  kubectl describe dllama %s", name)
	tellAll(append(told, events(description)...))
	for _, want := range []string{"Serving is True, Available: default/" + name + " is served on " + nodes, "Ready is True, Available"} {
		if !slices.Contains(told, want) {
			t.Errorf("the conditions do not tell %q:\n%s", want, description)
		}
	}
	cl.explains(t, "dllama.spec.replicaPower", "2^p nodes in all")
	cl.explains(t, "dllama.spec.expose", "Exposes the model over HTTP")
}

// conditions returns the conditions in what kubectl describes, each in a line.
func conditions(description string) (lines []string) {
	_, text, _ := strings.Cut(description, "\n  Conditions:\n")
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if fields[name] = strings.TrimSpace(value); name != "Type" { // the last one
			continue
		}
		said := fmt.Sprintf("%s is %s, %s: %s", fields["Type"], fields["Status"], fields["Reason"], fields["Message"])
		lines = append(lines, strings.TrimSuffix(said, ": "))
		clear(fields)
	}
	return lines
}

// events returns the events in what kubectl describes, without the columns for their age and
// source.
func events(description string) (lines []string) {
	_, text, _ := strings.Cut(description, "\nEvents:")
	columns := regexp.MustCompile(` {2,}`)
	for line := range strings.Lines(text) {
		const reason, message = 1, 4
		if event := columns.Split(strings.TrimSpace(line), -1); len(event) > message && event[0] != "Type" && event[0] != "----" {
			lines = append(lines, "Event "+event[reason]+": "+event[message])
		}
	}
	return lines
}

// explains tests that kubectl explains a field in these words, and prints its description.
func (cl *claims) explains(t *testing.T, field, words string) {
	t.Helper()
	explanation := cl.Kubectl(t, "explain", field)
	_, description, _ := strings.Cut(explanation, "DESCRIPTION:\n")
	description, _, _ = strings.Cut(description, "FIELDS:")
	description = strings.Join(strings.Fields(description), " ")
	if !strings.Contains(description, words) {
		t.Errorf("the explanation of %s does not say %q:\n%s", field, words, explanation)
	}
	tell("  kubectl explain %s", field)
	tellAll([]string{description})
}

// tellAll prints lines of what a program says.
func tellAll(lines []string) {
	for _, line := range lines {
		tell("    %s", line)
	}
}
