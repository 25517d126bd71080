package ingress

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

func TestIgnoredArgumentsAreReported(t *testing.T) {
	given := legacy(v1.Backend{GatewaySettings: v1.GatewaySettings{ExtraArgs: []string{"--strict-parameters", "--namespaces", "victim", "--namespace=victim", "x"}}})
	want := map[string]bool{
		"spec.backend.dispatcherMetricsListen": false, "spec.backend.extraArgs[0]": false, "spec.backend.extraArgs[1]": true,
		"spec.backend.extraArgs[2]": true, "spec.backend.extraArgs[3]": true, "spec.backend.extraArgs[4]": false,
	}
	if d := cmp.Diff(want, given); d != "" {
		t.Error(d)
	}
}

// TestAllowed: no extra argument makes a gateway serve other namespaces.
func TestAllowed(t *testing.T) {
	cases := map[string]struct{ extra, want []string }{
		"None":             {nil, nil},
		"Others":           {[]string{"--cors-origin=https://a.example", "--isolation", "token"}, []string{"--cors-origin=https://a.example", "--isolation", "token"}},
		"Namespace":        {[]string{"--namespace=victim", "--strict-parameters"}, []string{"--strict-parameters"}},
		"Namespaces":       {[]string{"--strict-parameters", "--namespaces=a,b"}, []string{"--strict-parameters"}},
		"OwnValue":         {[]string{"--namespace", "victim", "--strict-parameters"}, []string{"--strict-parameters"}},
		"NoValue":          {[]string{"--namespaces", "--isolation", "token"}, []string{"--isolation", "token"}},
		"Twice":            {[]string{"--namespace", "a", "--namespaces", "b"}, nil},
		"FromVariable":     {[]string{"--$(KOLDUN_HASH_SECRET)"}, []string{"--$$(KOLDUN_HASH_SECRET)"}},
		"PartFromVariable": {[]string{"--name$(KOLDUN_HASH_SECRET)=victim"}, []string{"--name$$(KOLDUN_HASH_SECRET)=victim"}},
		"WholeVariable":    {[]string{"--strict-parameters", "$(KOLDUN_HASH_SECRET)"}, []string{"--strict-parameters", "$$(KOLDUN_HASH_SECRET)"}},
		"VariableThenEquals": {[]string{"$(KOLDUN_HASH_SECRET)=victim", "$$(KOLDUN_HASH_SECRET)"},
			[]string{"$$(KOLDUN_HASH_SECRET)=victim", "$$$$(KOLDUN_HASH_SECRET)"}},
		"VariableAsValue": {[]string{"--cors-origin=https://$(POD_NAMESPACE).example"}, []string{"--cors-origin=https://$(POD_NAMESPACE).example"}},
		"AfterExpand":     {[]string{"$(EMPTY)--namespace=victim"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, allowed(c.extra)); d != "" {
				t.Error(d)
			}
		})
	}
}
