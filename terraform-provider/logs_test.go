package main

import "testing"

func TestWantsLogs(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    bool
	}{
		"Nothing":  {[]string{"PATH=/bin", "TF_INPUT=0"}, false},
		"Empty":    {[]string{"TF_LOG="}, false},
		"All":      {[]string{"PATH=/bin", "TF_LOG=debug"}, true},
		"Provider": {[]string{"TF_LOG_PROVIDER=trace"}, true},
		"SDK":      {[]string{"TF_LOG_SDK_PROTO=warn"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wantsLogs(c.environ); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
