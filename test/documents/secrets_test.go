package documents_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/internal/external/token"
)

// TestExamplesHaveNoUsableSecret holds that applying an example opens nothing: no Secret of an
// example is an API token, and the values of others say that they are to be replaced.
func TestExamplesHaveNoUsableSecret(t *testing.T) {
	seen := 0
	for name, text := range texts(t) {
		if !strings.HasPrefix(name, "examples/") || !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq(text, "\n---\n") {
			var s corev1.Secret
			if yaml.Unmarshal([]byte(document), &s) != nil || s.Kind != "Secret" {
				continue
			}
			seen++
			if _, labelled := s.Labels[token.LabelSecret]; labelled {
				t.Errorf("%s: Secret %q is an API token that all who read it know: say how to make one", name, s.Name)
			}
			values := map[string]string{}
			maps.Copy(values, s.StringData)
			for key, value := range s.Data {
				values[key] = string(value)
			}
			for key, value := range values {
				if key != "user" && !strings.Contains(value, "change-me") && !strings.Contains(value, "replace_me") {
					t.Errorf("%s: the value of key %q of Secret %q does not say that it is to be replaced", name, key, s.Name)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no example has a Secret: this test looks in the wrong place")
	}
}
