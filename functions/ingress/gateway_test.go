package ingress

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAllowed: no extra argument makes a gateway serve other namespaces.
func TestAllowed(t *testing.T) {
	cases := map[string]struct{ extra, want []string }{
		"None":        {nil, nil},
		"Others":      {[]string{"--cors-origin=https://a.example", "--isolation", "token"}, []string{"--cors-origin=https://a.example", "--isolation", "token"}},
		"Namespace":   {[]string{"--namespace=victim", "--strict-parameters"}, []string{"--strict-parameters"}},
		"Namespaces":  {[]string{"--strict-parameters", "--namespaces=a,b"}, []string{"--strict-parameters"}},
		"OwnValue":    {[]string{"--namespace", "victim", "--strict-parameters"}, []string{"--strict-parameters"}},
		"NoValue":     {[]string{"--namespaces", "--isolation", "token"}, []string{"--isolation", "token"}},
		"Twice":       {[]string{"--namespace", "a", "--namespaces", "b"}, nil},
		"AfterExpand": {[]string{"$(EMPTY)--namespace=victim"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, allowed(c.extra)); d != "" {
				t.Error(d)
			}
		})
	}
}
