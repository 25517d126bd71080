// Package connection determines how an object reaches NATS and its object
// store, and composes the ProviderConfig that describes it.
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

// A Connection describes how to reach NATS and an object store. The zero
// Connection is the default one.
type Connection struct {
	// Ref refers to an existing ProviderConfig.
	Ref *v1.ProviderConfigReference
	// NATS and S3 come from the spec of the object or of its Ingress.
	NATS *v1alpha1.NATSConfig
	S3   *v1alpha1.S3Config

	credentials map[string][]byte
}

// Default returns an explicit reference to the default connection, for objects
// whose readers should not have to look it up.
func Default() *v1.ProviderConfigReference {
	return &v1.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: "default"}
}

// BusSecret returns the name of the Secret that holds the connection to the
// queue for the pods of an object.
func BusSecret(kind, name string) string { return names.Secret(name, kind, "nats") }

// StoreSecret returns the name of the Secret that holds the connection to the
// object store for the pods of an object.
func StoreSecret(kind, name string) string { return names.Secret(name, kind, "s3") }

// A Problem is the reason why a connection cannot be composed. The zero Problem
// means that there is none.
type Problem struct {
	Reason  reason.Reason
	Message string
}

// An Owner is the object that has the connection.
type Owner struct{ Kind, Namespace, Name string }

func (o Owner) name(parts ...string) string {
	return names.Object(o.Name, append([]string{o.Kind}, parts...)...)
}

func (o Owner) secret(parts ...string) string {
	return names.Secret(o.Name, append([]string{o.Kind}, parts...)...)
}

// Compose composes the objects that describe the connection, and returns the
// reference for managed resources; nil means the default connection.
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

// ComposeOrKeep composes the connection. If there is a problem, it keeps the
// existing connection, so that running workloads do not lose it. res names a
// composed managed resource that uses the connection.
func (c Connection) ComposeOrKeep(call *compose.Call, o Owner, problem Problem, res string) (*v1.ProviderConfigReference, error) {
	if problem.Message != "" {
		return keep(call, res)
	}
	return c.Compose(call, o)
}

// Join returns a connection with the NATS of one connection and the object
// store of the other.
func Join(nats, s3 Connection) (Connection, Problem) {
	switch {
	case s3.Ref != nil:
		// The referenced ProviderConfig describes both.
		return Connection{Ref: s3.Ref}, Problem{}
	case nats.Ref != nil && s3.S3 != nil:
		return Connection{}, Problem{reason.ConnectionInvalid, "NATS is described by a " + nats.Ref.Kind + " and the object store is not: " +
			"describe both in one, and name it in objectStorage.providerConfigRef"}
	}
	nats.S3 = s3.S3
	return nats, Problem{}
}

// keep desires the observed objects of the connection unchanged, and returns
// the reference of the composed managed resource res.
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
