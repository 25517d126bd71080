// Package connection finds out how an object reaches NATS and its object
// store, and composes the ProviderConfig that says so.
package connection

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resConfig      = "connection"
	resCredentials = "nats-credentials"
)

// A Connection says how something is reached. The zero Connection is the
// default one.
type Connection struct {
	// Ref is a connection that is described elsewhere.
	Ref *v1.ProviderConfigReference
	// NATS and S3 are what the object, or its Ingress, says.
	NATS *v1alpha1.NATSConfig
	S3   *v1alpha1.S3Config

	credentials map[string][]byte
}

// Default is the reference to the default connection, for those that others
// should not have to look for.
func Default() *v1.ProviderConfigReference {
	return &v1.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: "default"}
}

// BusSecret is the name of the Secret in which an object of that kind and name
// gets the connection to the queue for its pods.
func BusSecret(kind, name string) string { return names.Object(name, kind, "nats") }

// StoreSecret is the name of the Secret in which an object of that kind and
// name gets the connection to the object store for its pods.
func StoreSecret(kind, name string) string { return names.Object(name, kind, "s3") }

// A Problem is why a connection cannot be made. The zero Problem is none.
type Problem struct {
	Reason  reason.Reason
	Message string
}

// An Owner is whose connection it is.
type Owner struct{ Kind, Namespace, Name string }

func (o Owner) name(parts ...string) string {
	return names.Object(o.Name, append([]string{o.Kind}, parts...)...)
}

// Compose composes what describes the connection, and returns the reference
// that managed resources give; nil is the default one.
func (c Connection) Compose(call *compose.Call, o Owner) (*v1.ProviderConfigReference, error) {
	if c.NATS == nil && c.S3 == nil {
		return c.Ref, nil
	}
	if len(c.credentials) > 0 {
		secret := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: c.NATS.SecretRef.Name},
			Type:       corev1.SecretTypeOpaque,
			Data:       c.credentials,
		}
		if err := call.Desire(resCredentials, secret, compose.Ready); err != nil {
			return nil, err
		}
	}
	config := &v1alpha1.ProviderConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindProviderConfig},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.name("connection")},
		Spec:       v1alpha1.ProviderConfigSpec{NATS: c.NATS, S3: c.S3},
	}
	ref := &v1.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: config.Name}
	return ref, call.Desire(resConfig, config, compose.Ready)
}

// ComposeOrKeep composes the connection. If problem says why there is none, it
// keeps the one that exists: what runs is not taken away for that. res names a
// composed managed resource that uses it.
func (c Connection) ComposeOrKeep(call *compose.Call, o Owner, problem Problem, res string) (*v1.ProviderConfigReference, error) {
	if problem.Message != "" {
		return keep(call, res)
	}
	return c.Compose(call, o)
}

// Join is a connection that has the NATS of one and the object store of the
// other.
func Join(nats, s3 Connection) (Connection, Problem) {
	switch {
	case s3.Ref != nil:
		// Whoever wrote it knows both.
		return Connection{Ref: s3.Ref}, Problem{}
	case nats.Ref != nil && s3.S3 != nil:
		return Connection{}, Problem{reason.ConnectionInvalid, "NATS is described by a " + nats.Ref.Kind + " and the object store is not: " +
			"describe both in one, and name it in objectStorage.providerConfigRef"}
	}
	nats.S3 = s3.S3
	return nats, Problem{}
}

// keep desires what describes the connection as it is observed, and returns the
// reference that the composed managed resource res gives.
func keep(call *compose.Call, res string) (*v1.ProviderConfigReference, error) {
	var secret corev1.Secret
	if call.Observed(resCredentials, &secret) {
		kept := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: secret.Namespace, Name: secret.Name},
			Type:       secret.Type,
			Data:       secret.Data,
		}
		if err := call.Desire(resCredentials, kept, compose.Ready); err != nil {
			return nil, err
		}
	}
	var config v1alpha1.ProviderConfig
	if call.Observed(resConfig, &config) {
		kept := &v1alpha1.ProviderConfig{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindProviderConfig},
			ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name},
			Spec:       config.Spec,
		}
		if err := call.Desire(resConfig, kept, compose.Ready); err != nil {
			return nil, err
		}
	}
	var user struct {
		Spec struct {
			ProviderConfigRef *v1.ProviderConfigReference `json:"providerConfigRef,omitempty"`
		} `json:"spec"`
	}
	call.Observed(res, &user)
	return user.Spec.ProviderConfigRef, nil
}
