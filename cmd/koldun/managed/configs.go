package managed

import (
	"context"
	"maps"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// embeddedNamespace holds the credentials of the embedded servers. No claim can
// have this name.
const embeddedNamespace = "(embedded)"

// configs reads the ProviderConfigs of the claims and their Secrets, as the
// provider reads them from an API server. The embedded servers fill the sections
// that the ClusterProviderConfig default leaves out.
//
// One that is removed stays known until the last resource that has read it is
// deleted, as in a cluster, so that all of them are deleted on its servers.
type configs struct {
	cfg     Config
	tracker *requeue.Tracker

	mu      sync.Mutex
	specs   map[types.NamespacedName]v1alpha1.ProviderConfigSpec // the namespace is that of a ProviderConfig
	secrets map[types.NamespacedName]external.Secret
}

var _ connpool.Reader = (*configs)(nil)

func newConfigs(cfg Config, tracker *requeue.Tracker) *configs {
	return &configs{cfg: cfg, tracker: tracker, specs: map[types.NamespacedName]v1alpha1.ProviderConfigSpec{}, secrets: map[types.NamespacedName]external.Secret{}}
}

// Get reads a ProviderConfig or ClusterProviderConfig.
func (c *configs) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	var kind string
	var to *v1alpha1.ProviderConfigSpec
	switch into := into.(type) {
	case *v1alpha1.ClusterProviderConfig:
		kind, to = v1alpha1.KindClusterProviderConfig, &into.Spec.ProviderConfigSpec
		// Who runs koldun up may read all claims and their Secrets anyway.
		into.Spec.AllowedNamespaces, into.Spec.SharedLogin = &v1alpha1.AllowedNamespaces{Names: []string{"*"}}, true
	case *v1alpha1.ProviderConfig:
		kind, to = v1alpha1.KindProviderConfig, &into.Spec
	default:
		return fault.Errorf(fault.Internal, "cannot read a %T: it is no ProviderConfig", into)
	}
	spec, found, err := c.spec(kind, key)
	if err != nil {
		return err
	}
	isDefault := kind == v1alpha1.KindClusterProviderConfig && key.Name == connpool.Default
	switch {
	case isDefault:
		c.fill(&spec)
	case c.cfg.EmbeddedOnly:
		spec.NATS, spec.S3 = nil, nil // those of the default, which are embedded
		if !found && c.cfg.Hub != "" {
			spec.Hub = c.embedded().Hub // or else the default's, which may be another one
		}
	case !found:
		return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.Group, Resource: kind}, key.Name)
	}
	if c.cfg.Hub != "" && spec.Hub != nil && isPublic(spec.Hub.Endpoint) {
		spec.Hub = &v1alpha1.HubConfig{Endpoint: c.cfg.Hub} // without the token, which is for the public one
	}
	// Who runs koldun up may reach the addresses of this machine anyway.
	local := v1alpha1.HubConfig{}
	if spec.Hub != nil {
		local = *spec.Hub
	}
	local.AllowPrivateAddresses, local.Allowed = true, []string{"*"}
	if spec.Hub != nil || isDefault {
		spec.Hub = &local
	}
	*to = spec
	return nil
}

// isPublic reports whether an endpoint is that of the public hub.
func isPublic(endpoint string) bool {
	return endpoint == "" || strings.TrimSuffix(endpoint, "/") == hub.DefaultEndpoint
}

// fill completes the ClusterProviderConfig default.
func (c *configs) fill(spec *v1alpha1.ProviderConfigSpec) {
	embedded := c.embedded()
	if spec.NATS == nil || c.cfg.EmbeddedOnly {
		spec.NATS = embedded.NATS
	}
	if spec.S3 == nil || c.cfg.EmbeddedOnly {
		spec.S3 = embedded.S3
	}
	if spec.Hub == nil {
		spec.Hub = embedded.Hub
	}
}

// spec returns what the claims say.
func (c *configs) spec(kind string, key client.ObjectKey) (spec v1alpha1.ProviderConfigSpec, found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	obj, ok := c.cfg.Configs(kind, key.Namespace, key.Name)
	if !ok {
		spec, found = c.specs[key]
		return spec, found, nil
	}
	if err := obj.Decode(&spec, "spec"); err != nil {
		return spec, false, fault.As(fault.Invalid, err)
	}
	c.specs[key] = spec
	return spec, true, nil
}

// prune forgets what is in use no more.
func (c *configs) prune() {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.specs, func(key types.NamespacedName, _ v1alpha1.ProviderConfigSpec) bool {
		kind := v1alpha1.KindProviderConfig
		if key.Namespace == "" {
			kind = v1alpha1.KindClusterProviderConfig
		}
		return !c.tracker.IsRead(requeue.Key{Kind: kind, NamespacedName: key})
	})
	maps.DeleteFunc(c.secrets, func(key types.NamespacedName, _ external.Secret) bool {
		return !c.tracker.IsRead(requeue.Key{Kind: connpool.KindSecret, NamespacedName: key})
	})
}

// embedded describes the embedded servers.
func (c *configs) embedded() v1alpha1.ProviderConfigSpec {
	ref := func(name string) *v1alpha1.CredentialsReference {
		return &v1alpha1.CredentialsReference{Name: name, Namespace: embeddedNamespace}
	}
	out := v1alpha1.ProviderConfigSpec{
		NATS: &v1alpha1.NATSConfig{URL: c.cfg.NATS.URL, SecretRef: ref("nats")},
		S3:   &v1alpha1.S3Config{Endpoint: c.cfg.S3.Endpoint, Region: c.cfg.S3.Region, SecretRef: ref("s3")},
	}
	if c.cfg.Hub != "" {
		out.Hub = &v1alpha1.HubConfig{Endpoint: c.cfg.Hub}
	}
	return out
}

// credentials reads the Secrets that ProviderConfigs name.
type credentials struct{ *configs }

var _ connpool.SecretReader = credentials{}

// Get reads a Secret. Errors: NotFound.
func (c credentials) Get(_ context.Context, key types.NamespacedName) (external.Secret, error) {
	if key.Namespace == embeddedNamespace {
		data := map[string]map[string][]byte{"nats": c.cfg.NATS.Env(), "s3": c.cfg.S3.Env()}
		return external.Secret{Name: key.Name, Data: data[key.Name]}, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one, ok := find(c.cfg.Secrets(key.Namespace), key.Name); ok {
		c.secrets[key] = one
	}
	found, ok := c.secrets[key]
	if !ok {
		return found, fault.Errorf(fault.NotFound, "Secret %q does not exist in namespace %q", key.Name, key.Namespace)
	}
	return found, nil
}

// Labelled returns the Secrets of a namespace with the label of API tokens.
func (c credentials) Labelled(_ context.Context, namespace string) ([]external.Secret, error) {
	return labelled(c.cfg.Secrets(namespace)), nil
}
