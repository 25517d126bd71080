package connpool

import (
	"context"
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/egress"
	"github.com/gorizond/koldun/provider/requeue"
)

// Default is the ClusterProviderConfig with the sections that others omit.
const Default = "default"

// KindSecret is the kind of Secrets, in keys.
const KindSecret = "Secret"

// A Config is a ProviderConfig or ClusterProviderConfig.
type Config struct {
	requeue.Key
	Spec v1alpha1.ProviderConfigSpec
	// Allowed selects the namespaces that may use a ClusterProviderConfig; nil: those
	// with the label.
	Allowed *v1alpha1.AllowedNamespaces
	// SharedLogin says that these namespaces may have one login.
	SharedLogin bool
}

// Secrets are the credentials that a Config names.
func (c Config) Secrets() []types.NamespacedName {
	var out []types.NamespacedName
	for _, ref := range []*v1alpha1.CredentialsReference{c.natsRef(), c.operatorRef(), c.s3Ref(), c.hubRef()} {
		if key, err := c.secret(ref); ref != nil && err == nil {
			out = append(out, key)
		}
	}
	return out
}

// Complete reports whether the Config has all sections that a deletion needs, so
// that none comes from the default. Nothing is ever deleted on a hub.
func (c Config) Complete() bool { return c.Spec.NATS != nil && c.Spec.S3 != nil }

func (c Config) natsRef() *v1alpha1.CredentialsReference {
	if c.Spec.NATS == nil {
		return nil
	}
	return c.Spec.NATS.SecretRef
}

func (c Config) operatorRef() *v1alpha1.CredentialsReference {
	if c.Spec.NATS == nil || c.Spec.NATS.Operator == nil {
		return nil
	}
	return &c.Spec.NATS.Operator.SecretRef
}

func (c Config) s3Ref() *v1alpha1.CredentialsReference {
	if c.Spec.S3 == nil {
		return nil
	}
	return c.Spec.S3.SecretRef
}

func (c Config) hubRef() *v1alpha1.CredentialsReference {
	if c.Spec.Hub == nil {
		return nil
	}
	return c.Spec.Hub.SecretRef
}

// secret returns the key of the Secret with the credentials. A ProviderConfig
// reads its own namespace only, because its users may not read others.
func (c Config) secret(ref *v1alpha1.CredentialsReference) (types.NamespacedName, error) {
	if ref == nil {
		return types.NamespacedName{}, nil
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	switch {
	case c.Kind == v1alpha1.KindClusterProviderConfig && key.Namespace == "":
		return key, fault.Errorf(fault.Invalid, "%s: the namespace of Secret %q is missing", c, key.Name)
	case c.Kind == v1alpha1.KindProviderConfig && key.Namespace != "" && key.Namespace != c.Namespace:
		return key, fault.Errorf(fault.Invalid, "%s: Secret %q is in namespace %q: only those of namespace %q can be used", c, key.Name, key.Namespace, c.Namespace)
	case c.Kind == v1alpha1.KindProviderConfig:
		key.Namespace = c.Namespace
	}
	return key, nil
}

func (c Config) String() string { return fmt.Sprintf("%s %q", c.Kind, c.Name) }

// GetConfig reads a ProviderConfig or ClusterProviderConfig. Errors: NotFound,
// Invalid, Transient.
func GetConfig(ctx context.Context, r Reader, key requeue.Key) (Config, error) {
	c := Config{Key: key}
	var err error
	switch key.Kind {
	case v1alpha1.KindProviderConfig:
		var p v1alpha1.ProviderConfig
		err = r.Get(ctx, key.NamespacedName, &p)
		c.Spec = p.Spec
	case v1alpha1.KindClusterProviderConfig:
		var p v1alpha1.ClusterProviderConfig
		err = r.Get(ctx, key.NamespacedName, &p)
		c.Spec, c.Allowed, c.SharedLogin = p.Spec.ProviderConfigSpec, p.Spec.AllowedNamespaces, p.Spec.SharedLogin
	default:
		return c, fault.Errorf(fault.Invalid, "providerConfigRef: kind %q is neither ProviderConfig nor ClusterProviderConfig", key.Kind)
	}
	switch {
	case apierrors.IsNotFound(err):
		return c, fault.Errorf(fault.NotFound, "%s does not exist: create it with spec.nats and spec.s3, or correct providerConfigRef", c)
	case err != nil:
		return c, fault.Errorf(fault.Transient, "cannot read %s: %w", c, err)
	}
	return c, nil
}

// KeyOf returns the key of the Config that a managed resource refers to.
func KeyOf(namespace string, ref *xpv2.ProviderConfigReference) requeue.Key {
	if ref == nil {
		return DefaultKey()
	}
	key := requeue.Key{Kind: ref.Kind, NamespacedName: types.NamespacedName{Name: ref.Name}}
	if ref.Kind == v1alpha1.KindProviderConfig {
		key.Namespace = namespace
	}
	return key
}

// DefaultKey returns the key of the default.
func DefaultKey() requeue.Key {
	return requeue.Key{Kind: v1alpha1.KindClusterProviderConfig, NamespacedName: types.NamespacedName{Name: Default}}
}

// A resolver resolves the connections of one managed resource. It calls read with
// each object before it reads the object.
type resolver struct {
	configs    Reader
	secrets    SecretReader
	namespaces Namespaces
	namespace  string // of the managed resource
	config     requeue.Key
	read       func(requeue.Key)
}

// own returns the Config that the managed resource refers to.
func (r resolver) own(ctx context.Context) (Config, error) {
	r.read(r.config)
	c, err := GetConfig(ctx, r.configs, r.config)
	if err != nil {
		return c, err
	}
	return c, r.permit(ctx, c)
}

// part returns the Config that describes one system.
func (r resolver) part(ctx context.Context, name string, has func(v1alpha1.ProviderConfigSpec) bool) (Config, error) {
	c, err := r.own(ctx)
	if err != nil || has(c.Spec) {
		return c, err
	}
	if r.config == DefaultKey() {
		return c, fault.Errorf(fault.NotFound, "%s has no spec.%s: add it", c, name)
	}
	r.read(DefaultKey())
	d, err := GetConfig(ctx, r.configs, DefaultKey())
	if fault.Is(err, fault.NotFound) || err == nil && !has(d.Spec) {
		return d, fault.Errorf(fault.NotFound, "neither %s nor %s has spec.%s: add it to one of them", c, d, name)
	}
	if err != nil {
		return d, err
	}
	return d, r.permit(ctx, d)
}

// egressPorts returns the further ports of the Config that the managed resource refers to,
// and of the one that describes the system.
func (r resolver) egressPorts(ctx context.Context, on catalog.System) ([]int32, error) {
	own, err := r.own(ctx)
	if err != nil {
		return nil, err
	}
	c, err := r.part(ctx, string(on), func(s v1alpha1.ProviderConfigSpec) bool {
		return map[catalog.System]bool{catalog.NATS: s.NATS != nil, catalog.S3: s.S3 != nil, catalog.Hub: s.Hub != nil}[on]
	})
	if fault.Is(err, fault.NotFound) || IsNotAllowed(err) { // of a hub, which needs no description
		return own.Spec.EgressPorts, nil
	}
	return egress.Union(own.Spec.EgressPorts, c.Spec.EgressPorts), err
}

// credentials reads the Secret of a Config; nil if it names none.
func (r resolver) credentials(ctx context.Context, c Config, ref *v1alpha1.CredentialsReference) (credentials, error) {
	key, err := c.secret(ref)
	if err != nil || ref == nil {
		return nil, err
	}
	r.read(requeue.Key{Kind: KindSecret, NamespacedName: key})
	secret, err := r.secrets.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("cannot use %s: %w", c, err)
	}
	return readCredentials(secret.Data), nil
}

// nats returns the settings of the connection to NATS, and the Config they come
// from.
func (r resolver) nats(ctx context.Context) (bus.Config, Config, error) {
	c, err := r.part(ctx, "nats", func(s v1alpha1.ProviderConfigSpec) bool { return s.NATS != nil })
	if err == nil {
		err = r.permitShared(c, catalog.NATS)
	}
	if err != nil {
		return bus.Config{}, c, err
	}
	out := bus.Config{URL: c.Spec.NATS.URL}
	if strings.Contains(out.URL, "@") {
		return bus.Config{}, c, fault.Errorf(fault.Invalid, "%s: spec.nats.url holds credentials: they belong in a Secret", c)
	}
	secret, err := r.credentials(ctx, c, c.natsRef())
	if err != nil {
		return bus.Config{}, c, err
	}
	secret.nats(&out)
	if c.Spec.NATS.Operator != nil && out != (bus.Config{URL: out.URL, CA: out.CA, Cert: out.Cert, Key: out.Key}) {
		return bus.Config{}, c, fault.Errorf(fault.Invalid, "%s: Secret %q holds a login, and spec.nats.operator makes one for each namespace: remove the login", c, c.natsRef().Name)
	}
	if out.URL == "" {
		return bus.Config{}, c, fault.Errorf(fault.Invalid, "%s: there is no URL of NATS, neither in spec.nats.url nor in its Secret", c)
	}
	return out, c, nil
}

// operator returns how the accounts of servers in operator mode are made, nil if all
// namespaces use one login. servers and c are the results of nats.
func (r resolver) operator(ctx context.Context, servers bus.Config, c Config) (*operatorAccess, error) {
	ref := c.operatorRef()
	if ref == nil {
		return nil, nil
	}
	secret, err := r.credentials(ctx, c, ref)
	if err != nil {
		return nil, err
	}
	o := c.Spec.NATS.Operator
	out, err := secret.operator(servers)
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(err), "%s: cannot use Secret %q: %w", c, ref.Name, err)
	}
	out.servers = int(max(o.Servers, 1))
	out.usual = usualLimits(o)
	return &out, nil
}

// store returns the Config that describes the object store.
func (r resolver) store(ctx context.Context) (Config, error) {
	c, err := r.part(ctx, "s3", func(s v1alpha1.ProviderConfigSpec) bool { return s.S3 != nil })
	if err != nil {
		return c, err
	}
	return c, r.permitShared(c, catalog.S3)
}

func (r resolver) s3(ctx context.Context) (s3.Config, error) {
	c, err := r.store(ctx)
	if err != nil {
		return s3.Config{}, err
	}
	if err := r.ownHub(ctx, c); err != nil {
		return s3.Config{}, err
	}
	out := s3.Config{
		Endpoint: strings.TrimSuffix(c.Spec.S3.Endpoint, "/"), Region: c.Spec.S3.Region,
		Addressing: c.Spec.S3.Addressing, PlainParts: c.Spec.S3.Checksums == "whenRequired",
	}
	if !isHTTP(out.Endpoint) {
		return s3.Config{}, fault.Errorf(fault.Invalid, "%s: spec.s3.endpoint is not http[s]://HOST[:PORT]", c)
	}
	secret, err := r.credentials(ctx, c, c.s3Ref())
	if err != nil {
		return s3.Config{}, err
	}
	secret.s3(&out)
	out.PlainParts = out.PlainParts && c.Spec.S3.Checksums != "always"
	// Who may write a ProviderConfig, or name an endpoint in a claim, must not have
	// requests signed with the identity of the provider's pod.
	out.Anonymous = c.s3Ref() == nil && c.Kind != v1alpha1.KindClusterProviderConfig
	if out.Region == "" {
		out.Region = s3.DefaultRegion
	}
	if out.STS, err = c.sts(secret); err != nil {
		return s3.Config{}, err
	}
	if c.s3Ref() != nil && (out.AccessKey == "" || out.SecretKey == "") {
		return s3.Config{}, fault.Errorf(fault.Invalid, "%s: Secret %q has no access key: it needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or accessKey and secretKey", c, c.s3Ref().Name)
	}
	return out, nil
}

// ownHub refuses the object store of the default for a ProviderConfig with a hub of its
// own: under the name of a public repository that hub could fill the folders that all
// namespaces share.
func (r resolver) ownHub(ctx context.Context, store Config) error {
	if store.Key == r.config || r.config.Kind != v1alpha1.KindProviderConfig {
		return nil
	}
	own, err := GetConfig(ctx, r.configs, r.config)
	if err != nil || own.Spec.Hub == nil || own.Spec.Hub.Endpoint == "" {
		return err
	}
	return fault.Errorf(fault.Invalid, "%s has a hub of its own (spec.hub.endpoint), and the object store of %s: give it an object store of its own (spec.s3) too", own, store)
}
