package connpool

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/hub"
	"github.com/gorizond/koldun/internal/modelref"
)

// hubsOf returns the repositories that may be read, as spec.hub.allowed lists them: the hub
// of the Config alone, if it lists none.
func hubsOf(of v1alpha1.HubConfig) []string {
	if len(of.Allowed) > 0 {
		return of.Allowed
	}
	return []string{hostOf(cmp.Or(of.Endpoint, hub.DefaultEndpoint))}
}

// permitHub says why a repository may not be read; empty if it may. c is the Config that
// describes the hub.
func permitHub(c Config, of v1alpha1.HubConfig, at modelref.Ref) string {
	from := hostOf(cmp.Or(at.Endpoint, of.Endpoint, hub.DefaultEndpoint))
	list := hubsOf(of)
	if slices.ContainsFunc(list, func(entry string) bool { return covers(entry, from, at.Repo) }) {
		return ""
	}
	return fmt.Sprintf("%s/%s is not in spec.hub.allowed of %s, which is [%s]; to allow it, a platform engineer sets that to [%s]",
		from, at.Repo, c, strings.Join(list, ", "), strings.Join(append(slices.Clone(list), from+"/"+at.Repo), ", "))
}

// covers reports whether an entry of spec.hub.allowed covers a repository: as HOST, HOST/ORG
// or HOST/ORG/REPO, where * stands for a part without a slash.
func covers(entry, host, repo string) bool {
	at := append([]string{host}, strings.Split(repo, "/")...)
	parts := strings.Split(entry, "/")
	if len(parts) > len(at) {
		return false
	}
	for i, part := range parts {
		if ok, err := path.Match(part, at[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// hostOf returns the host of an endpoint, with its port unless that is the usual one.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}
