package claims

import "testing"

func TestMisspelt(t *testing.T) {
	cases := map[string]struct {
		group, kind string
		want        bool
	}{
		"OldGroup":       {"kold.gorizond.io", "Dllama", true},
		"WrongDomain":    {"koldun.gorizont.io", "Session", true},
		"WrongName":      {"coldun.gorizond.io", "Ingress", true},
		"UnknownKind":    {"koldun.gorizond.com", "ConfigMap", false},
		"Networking":     {"networking.k8s.io", "Ingress", false},
		"WorkerOfOthers": {"extensions.gardener.cloud", "Worker", false},
		"ModelOfOthers":  {"mlops.seldon.io", "Model", false},
		"Core":           {"", "Secret", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := misspelt(c.group, c.kind); got != c.want {
				t.Errorf("misspelt(%q, %q) = %t, want %t", c.group, c.kind, got, c.want)
			}
		})
	}
}
