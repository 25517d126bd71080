package main_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/hub/hubtest"
	"github.com/gorizond/koldun/internal/names"
)

// A source must not choose the receiver of HF_TOKEN: only the hubs of HF_ENDPOINT and
// --token-endpoint get it.
func TestTokenGoesToItsHubOnly(t *testing.T) {
	const token = "hf_secret"
	own := hubtest.NewDir(t, hubtest.Options{Token: token}, models+"/koldun-tiny")
	t.Setenv(names.EnvHFToken, token)
	t.Setenv(names.EnvHFEndpoint, own.URL)
	for name, command := range map[string]func() []string{
		"Fetch":    func() []string { return []string{"fetch", "--to=" + t.TempDir(), "--from"} },
		"Topology": func() []string { return []string{"topology"} },
	} {
		t.Run(name, func(t *testing.T) {
			hostile := hubtest.NewDir(t, hubtest.Options{}, models+"/koldun-tiny")
			jobs(t, append(command(), hostile.URL+"/"+hostile.Repo))
			seen := hostile.Requests()
			if len(seen) == 0 {
				t.Error("the other hub got no request")
			}
			for _, r := range seen {
				if r.Token != "" {
					t.Errorf("the other hub got the token with %s", r.Path)
				}
			}
			jobs(t, append(command(), "hf://"+own.Repo))

			private := hubtest.NewDir(t, hubtest.Options{Token: token}, models+"/koldun-tiny")
			source := private.URL + "/" + private.Repo
			refused(t, 12, names.EnvHFToken+" is for "+own.URL+", so it is not sent to "+private.URL, append(command(), source)...)
			jobs(t, append(command(), source, "--token-endpoint="+private.URL))
		})
	}
}
