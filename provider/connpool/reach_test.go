package connpool_test

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/provider/connpool"
)

// TestOnlyThePlatformOpensPrivateAddresses has a namespace send the provider, and its Jobs,
// to servers of the cluster by a ProviderConfig of its own.
func TestOnlyThePlatformOpensPrivateAddresses(t *testing.T) {
	inside := hubtest.New(t, hubtest.Options{Repo: "org/repo"}, map[string][]byte{"config.json": []byte("{}")})
	at := v1alpha1.HubConfig{Endpoint: inside.URL}
	open, list := at, v1alpha1.HubConfig{Allowed: []string{"*"}}
	open.AllowPrivateAddresses = true
	private := &v1alpha1.HubConfig{AllowPrivateAddresses: true}
	const own, shared = v1alpha1.KindProviderConfig, v1alpha1.KindClusterProviderConfig
	for name, c := range map[string]struct {
		kind      string
		hub       v1alpha1.HubConfig
		platform  *v1alpha1.HubConfig
		of        string // namespaces of the platform's
		named     bool   // the repository names the hub
		forbidden string // by the Config
		refused   string // by the address
		reach     string
	}{
		"OwnHub":         {own, at, nil, "ns", false, "", "is not a public one", "public"},
		"OwnHubNamed":    {own, list, nil, "ns", true, "", "is not a public one", "public"},
		"OwnField":       {own, open, nil, "ns", false, `ProviderConfig "own": spec.hub.allowPrivateAddresses is the platform team's to set`, "", ""},
		"FieldForbidden": {own, open, &v1alpha1.HubConfig{}, "ns", false, `in a ClusterProviderConfig that allows namespace "ns"`, "", ""},
		"ForOthers":      {own, at, private, "other", false, "", "is not a public one", "public"},
		"FieldForOthers": {own, open, private, "other", false, "is the platform team's to set", "", ""},
		"Platform":       {own, at, private, "ns", false, "", "", "any"},
		"PlatformField":  {own, open, private, "ns", false, "", "", "any"},
		"Shared":         {shared, at, nil, "ns", false, "", "", "public " + inside.URL},
		"SharedNamed":    {shared, list, nil, "ns", true, "", "is not a public one", "public"},
		"SharedField":    {shared, open, nil, "ns", true, "", "", "any"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			if c.platform != nil {
				platform := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
				platform.Spec.Hub, platform.Spec.AllowedNamespaces = c.platform, &v1alpha1.AllowedNamespaces{Names: []string{c.of}}
				if err := s.api.Create(t.Context(), platform); err != nil {
					t.Fatal(err)
				}
			}
			team := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "own"}}
			team.Spec.Hub, team.Spec.AllowedNamespaces = &c.hub, &v1alpha1.AllowedNamespaces{Names: []string{"ns"}}
			tenant := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{Hub: &c.hub}}
			for _, err := range []error{s.api.Create(t.Context(), team), s.api.Create(t.Context(), tenant)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			repo := modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo"}
			if c.named {
				repo.Endpoint = inside.URL
			}
			h, err := s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: c.kind, Name: "own"}).Hub(t.Context(), repo, "")
			check(t, "Hub", err, c.forbidden)
			if err != nil {
				return
			}
			if got := string(h.Env()[names.EnvHubReach]); got != c.reach {
				t.Errorf("workloads reach %q, want %q", got, c.reach)
			}
			_, err = h.Resolve(t.Context(), "org/repo", "main")
			check(t, "Resolve", err, c.refused)
		})
	}
}
