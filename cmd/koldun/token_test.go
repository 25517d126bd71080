package main_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
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

// TestJobsReachWhatTheProviderSays has a Job read a hub in a private network: a claim's own,
// and that of the platform.
func TestJobsReachWhatTheProviderSays(t *testing.T) {
	inside := hubtest.NewDir(t, hubtest.Options{}, models+"/koldun-tiny")
	fetch := func() []string {
		return []string{"fetch", "--to=" + t.TempDir(), "--from=" + inside.URL + "/" + inside.Repo}
	}
	for _, reach := range []string{"public", "public https://hub.acme", "nonsense", "public " + inside.URL} { // which redirects
		t.Setenv(names.EnvHubReach, reach)
		refused(t, 10, "is not a public one", fetch()...)
	}
	for _, reach := range []string{"", "any", "public " + inside.URL + " " + inside.CDN} {
		t.Setenv(names.EnvHubReach, reach)
		jobs(t, fetch())
	}
}

// TestClaimsDoNotNameTheHubOfJobs has a claim's ConfigMap name another hub than that of the
// connection, and a proxy for it.
func TestClaimsDoNotNameTheHubOfJobs(t *testing.T) {
	const token = "hf_secret"
	own := hubtest.NewDir(t, hubtest.Options{Token: token}, models+"/koldun-tiny")
	hostile := hubtest.NewDir(t, hubtest.Options{}, models+"/koldun-tiny")
	t.Setenv(names.EnvHFToken, token)
	t.Setenv(names.EnvHFEndpoint, own.URL)
	t.Setenv(names.EnvHubReach, "public "+own.URL+" "+own.CDN)
	for _, variable := range []string{names.EnvHFEndpoint, names.EnvHubReach, "SSL_CERT_FILE"} {
		t.Setenv(names.EnvClaim+variable, hostile.URL)
	}
	jobs(t, []string{"fetch", "--to=" + t.TempDir(), "--from=hf://" + own.Repo})
	if n := len(hostile.Requests()); n > 0 {
		t.Errorf("the other hub got %d requests", n)
	}
	t.Setenv(names.EnvClaim+"KOLDUN_LOG_LEVEL", "nonsense")
	refused(t, 10, "nonsense", "fetch", "--to="+t.TempDir(), "--from=hf://"+own.Repo)
}
