package connpool

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// A hubAccess identifies a client of a hub.
type hubAccess struct {
	endpoint, token string
	trusted         string // endpoint that may have a private address
	private         bool   // all may
}

// hub returns how the hub of a repository is read. An empty token is that of the Config, if
// the repository is on its hub. Errors: also hubrevision.ErrNotAllowed.
func (r resolver) hub(ctx context.Context, repo modelref.Ref, token string) (hubAccess, error) {
	c, of, err := r.hubConfig(ctx)
	if err != nil {
		return hubAccess{}, err
	}
	refused := permitHub(c, of, repo)
	if refused == "" && c.Kind == v1alpha1.KindProviderConfig {
		refused, err = r.platformRefuses(ctx, of, repo)
	}
	if err == nil && refused != "" {
		err = fault.As(fault.Denied, fmt.Errorf("%w: %s", hubrevision.ErrNotAllowed, refused))
	}
	if err != nil {
		return hubAccess{}, err
	}
	out := hubAccess{endpoint: cmp.Or(repo.Endpoint, of.Endpoint), token: token}
	if out.trusted, out.private, err = r.reach(ctx, c, of); err != nil {
		return hubAccess{}, err
	}
	if token == "" && out.endpoint == of.Endpoint {
		secret, err := r.credentials(ctx, c, c.hubRef())
		if err != nil {
			return hubAccess{}, err
		}
		out.token = secret.hubToken()
	}
	return out, nil
}

// hubConfig returns the Config that describes the hub. The public one needs no description:
// without any, and where the namespace may not use the default, it is that of the default
// with nothing but its list.
func (r resolver) hubConfig(ctx context.Context) (Config, v1alpha1.HubConfig, error) {
	c, err := r.part(ctx, "hub", func(s v1alpha1.ProviderConfigSpec) bool { return s.Hub != nil })
	switch {
	case fault.Is(err, fault.NotFound) || IsNotAllowed(err) && c.Key != r.config:
		d, err := r.platform(ctx)
		return Config{Key: DefaultKey()}, v1alpha1.HubConfig{Allowed: d.Spec.Hub.Allowed}, err
	case err != nil:
		return c, v1alpha1.HubConfig{}, err
	}
	return c, *c.Spec.Hub, nil
}

// platform returns the default with a description of its hub, which may be empty, whether or
// not the namespace may use it: its list binds all namespaces. Errors: Transient.
func (r resolver) platform(ctx context.Context) (Config, error) {
	r.read(DefaultKey())
	d, err := GetConfig(ctx, r.configs, DefaultKey())
	if d.Spec.Hub == nil {
		d.Spec.Hub = &v1alpha1.HubConfig{}
	}
	if fault.Is(err, fault.NotFound) {
		return d, nil
	}
	return d, err
}

// platformRefuses says why the default's list of hubs, if it has one, refuses a repository
// that a ProviderConfig allows.
func (r resolver) platformRefuses(ctx context.Context, own v1alpha1.HubConfig, repo modelref.Ref) (string, error) {
	d, err := r.platform(ctx)
	if err != nil || len(d.Spec.Hub.Allowed) == 0 {
		return "", err
	}
	return permitHub(d, v1alpha1.HubConfig{Endpoint: own.Endpoint, Allowed: d.Spec.Hub.Allowed}, repo), nil
}

// reach returns which endpoint may have a private address, and whether all hubs may. Only
// the platform team decides that: otherwise the author of a ProviderConfig could make the
// provider read servers of the cluster, and show their answers.
func (r resolver) reach(ctx context.Context, c Config, of v1alpha1.HubConfig) (trusted string, private bool, err error) {
	if c.Kind != v1alpha1.KindProviderConfig {
		return of.Endpoint, of.AllowPrivateAddresses, nil
	}
	d, err := r.platform(ctx)
	if err != nil {
		return "", false, err
	}
	if d.Spec.Hub.AllowPrivateAddresses {
		switch err := r.permit(ctx, d); {
		case err == nil:
			return "", true, nil
		case !IsNotAllowed(err):
			return "", false, err
		}
	}
	if of.AllowPrivateAddresses {
		return "", false, fault.Errorf(fault.Invalid, "%s: spec.hub.allowPrivateAddresses is the platform team's to set: remove it, and have a platform engineer "+
			"name the hub in a ClusterProviderConfig that allows namespace %q, or set the field in the one named %q and allow the namespace there", c, r.namespace, Default)
	}
	return "", false, nil
}

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
