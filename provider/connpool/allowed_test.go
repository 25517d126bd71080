package connpool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// labelled are the labels of all namespaces.
type labelled map[string]string

func (l labelled) Labels(context.Context, string) (map[string]string, error) {
	if l == nil {
		return nil, fault.Errorf(fault.Denied, "the provider may not read namespaces")
	}
	return l, nil
}

// TestNamespacesMayUse checks which namespaces may use a ClusterProviderConfig, for
// each system that it describes.
func TestNamespacesMayUse(t *testing.T) {
	allow := func(names []string, labels map[string]string) *v1alpha1.AllowedNamespaces {
		out := &v1alpha1.AllowedNamespaces{Names: names}
		if labels != nil {
			out.Selector = &metav1.LabelSelector{MatchLabels: labels}
		}
		return out
	}
	team := map[string]string{"team": "a"}
	for name, c := range map[string]struct {
		allowed *v1alpha1.AllowedNamespaces
		labels  labelled
		refused string // part of the error; empty if it is allowed
	}{
		"DefaultLabel":   {nil, labelled{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed}, ""},
		"DefaultNone":    {nil, labelled{}, "kubectl label namespace ns koldun.gorizond.io/connection=allowed"},
		"DefaultOther":   {nil, labelled{v1alpha1.LabelConnection: "denied"}, "may not use"},
		"DefaultBlind":   {nil, nil, "may not read namespaces"},
		"Named":          {allow([]string{"other", "ns"}, nil), nil, ""},
		"All":            {allow([]string{"*"}, nil), nil, ""},
		"NotNamed":       {allow([]string{"other", "n", "ns2"}, nil), nil, "add it to spec.allowedNamespaces"},
		"Nobody":         {allow(nil, nil), labelled{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed}, "may not use"},
		"Selected":       {allow(nil, team), labelled{"team": "a"}, ""},
		"NotSelected":    {allow(nil, team), labelled{"team": "b"}, "may not use"},
		"EmptySelector":  {allow(nil, map[string]string{}), labelled{"team": "b"}, "may not use"},
		"NamedOrLabels":  {allow([]string{"ns"}, team), labelled{"team": "b"}, ""},
		"WrongSelector":  {allow(nil, map[string]string{"-": "?"}), labelled{}, "spec.allowedNamespaces.selector"},
		"LabelNotEnough": {allow([]string{"other"}, nil), labelled{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed}, "may not use"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
			shared.Spec.S3 = &v1alpha1.S3Config{Endpoint: "http://127.0.0.1:1"}
			shared.Spec.Hub = &v1alpha1.HubConfig{Endpoint: "http://127.0.0.1:1"}
			shared.Spec.AllowedNamespaces, shared.Spec.SharedLogin = c.allowed, true
			half := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "half"}}
			for _, err := range []error{s.api.Create(t.Context(), shared), s.api.Create(t.Context(), half)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			pool := connpool.NewPool(connpool.Program{Name: "koldun test"}, s.api, connpool.NewSecrets(s.api, s.api), requeue.NewTracker(), connpool.Cluster{Namespaces: c.labels})
			t.Cleanup(pool.Close)
			for via, ref := range map[string]*xpv2.ProviderConfigReference{
				"default": nil,
				"named":   {Kind: v1alpha1.KindClusterProviderConfig, Name: connpool.Default},
				"half":    {Kind: v1alpha1.KindProviderConfig, Name: "half"}, // takes the rest of the default
			} {
				set := pool.For(s.owner, ref)
				_, _, err := set.S3(t.Context())
				check(t, via+": S3", err, c.refused)
				if via == "half" {
					continue // without the default's hub it uses the public one
				}
				_, err = set.Hub(t.Context(), modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo"}, "")
				check(t, via+": hub", err, c.refused)
				check(t, via+": Permit", set.Permit(t.Context()), c.refused)
			}
		})
	}
}

func check(t *testing.T, what string, err error, refused string) {
	t.Helper()
	switch {
	case refused == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
		t.Errorf("%s: got %v, want %q", what, err, refused)
	}
}

// TestOwnHubNeedsOwnStore has a namespace name a hub of its own, and leave the object
// store to the platform: that hub must not fill the folders of public repositories.
func TestOwnHubNeedsOwnStore(t *testing.T) {
	for name, c := range map[string]struct {
		hub     *v1alpha1.HubConfig
		store   *v1alpha1.S3Config
		refused string
	}{
		"Shared":     {&v1alpha1.HubConfig{Endpoint: "https://evil.example"}, nil, "give it an object store of its own"},
		"OwnStore":   {&v1alpha1.HubConfig{Endpoint: "https://hub.example"}, &v1alpha1.S3Config{Endpoint: "http://127.0.0.1:1"}, ""},
		"TokenOnly":  {&v1alpha1.HubConfig{}, nil, ""},
		"WithoutHub": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
			shared.Spec.S3 = &v1alpha1.S3Config{Endpoint: "http://127.0.0.1:1"}
			shared.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"ns"}}
			own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{Hub: c.hub, S3: c.store}}
			for _, err := range []error{s.api.Create(t.Context(), shared), s.api.Create(t.Context(), own)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}).S3(t.Context())
			check(t, "S3", err, c.refused)
		})
	}
}

// TestPlatformAllowsHubs has a namespace allow itself a hub that the platform's list lacks.
func TestPlatformAllowsHubs(t *testing.T) {
	evil := modelref.Ref{Scheme: modelref.Hub, Endpoint: "https://evil.example", Repo: "org/repo"}
	for name, c := range map[string]struct {
		shared, own *v1alpha1.HubConfig
		refused     string
	}{
		"NoLists":    {&v1alpha1.HubConfig{}, &v1alpha1.HubConfig{}, `spec.hub.allowed of ProviderConfig "own"`},
		"OwnList":    {&v1alpha1.HubConfig{}, &v1alpha1.HubConfig{Allowed: []string{"*"}}, ""},
		"OwnHub":     {nil, &v1alpha1.HubConfig{Endpoint: "https://evil.example"}, ""},
		"Platform":   {&v1alpha1.HubConfig{Allowed: []string{"huggingface.co"}}, &v1alpha1.HubConfig{Allowed: []string{"*"}}, `evil.example/org/repo is not in spec.hub.allowed of ClusterProviderConfig "default", which is [huggingface.co]; to allow it, a platform engineer sets that to [huggingface.co, evil.example/org/repo]`},
		"Both":       {&v1alpha1.HubConfig{Allowed: []string{"evil.example/org"}}, &v1alpha1.HubConfig{Allowed: []string{"*"}}, ""},
		"OfPlatform": {&v1alpha1.HubConfig{Allowed: []string{"evil.example"}}, nil, ""},
		"Nowhere":    {nil, nil, `spec.hub.allowed of ClusterProviderConfig "default", which is [huggingface.co]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
			shared.Spec.Hub, shared.Spec.AllowedNamespaces = c.shared, &v1alpha1.AllowedNamespaces{Names: []string{"ns"}}
			own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}, Spec: v1alpha1.ProviderConfigSpec{Hub: c.own}}
			for _, err := range []error{s.api.Create(t.Context(), shared), s.api.Create(t.Context(), own)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}).Hub(t.Context(), evil, "")
			check(t, "Hub", err, c.refused)
			if c.refused != "" && !errors.Is(err, hubrevision.ErrNotAllowed) {
				t.Errorf("%v is not %v", err, hubrevision.ErrNotAllowed)
			}
		})
	}
}

// TestPlatformsListBindsAll has a namespace that may not use the default leave out its hub:
// the list of the default is for it, too.
func TestPlatformsListBindsAll(t *testing.T) {
	public := modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo"}
	for name, c := range map[string]struct {
		allowed []string
		kind    string
		refused string
	}{
		"Mirror":        {[]string{"hub.acme"}, v1alpha1.KindProviderConfig, `huggingface.co/org/repo is not in spec.hub.allowed of ClusterProviderConfig "default", which is [hub.acme]`},
		"Organisation":  {[]string{"huggingface.co/acme"}, v1alpha1.KindProviderConfig, "which is [huggingface.co/acme]"},
		"Shared":        {[]string{"hub.acme"}, v1alpha1.KindClusterProviderConfig, "which is [hub.acme]"},
		"Allowed":       {[]string{"huggingface.co/org"}, v1alpha1.KindProviderConfig, ""},
		"WithoutAList":  {nil, v1alpha1.KindProviderConfig, ""},
		"SharedAllowed": {[]string{"huggingface.co"}, v1alpha1.KindClusterProviderConfig, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
			shared.Spec.Hub = &v1alpha1.HubConfig{Endpoint: "https://secret.acme", Allowed: c.allowed}
			shared.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"other"}}
			team := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "own"}}
			team.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"ns"}}
			own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}}
			for _, err := range []error{s.api.Create(t.Context(), shared), s.api.Create(t.Context(), team), s.api.Create(t.Context(), own)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.pool.For(s.owner, &xpv2.ProviderConfigReference{Kind: c.kind, Name: "own"}).Hub(t.Context(), public, "")
			check(t, "Hub", err, c.refused)
			if c.refused != "" && !errors.Is(err, hubrevision.ErrNotAllowed) {
				t.Errorf("%v is not %v", err, hubrevision.ErrNotAllowed)
			}
			if c.refused == "" && string(got.Env()[names.EnvHFEndpoint]) != hub.DefaultEndpoint {
				t.Errorf("the hub is %s", got.Env()[names.EnvHFEndpoint])
			}
		})
	}
}
