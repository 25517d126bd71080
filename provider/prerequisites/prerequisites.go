// Package prerequisites finds out what a cluster lacks of what Koldun's objects need,
// and keeps it in an EnvironmentConfig, which the Function reads.
package prerequisites

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/apis/prerequisites"
)

const (
	// manager is the field manager of server-side apply.
	manager = client.FieldOwner("koldun-provider")
	// Intervals of looking. Nothing announces a new right or API group. Rights take many
	// requests, so they are looked for often only while one is missing.
	often  = 5 * time.Second
	seldom = time.Minute
)

// A Keeper keeps the EnvironmentConfig. Only the leader of several replicas runs it.
type Keeper struct {
	clients kubernetes.Interface
	client  client.Client
	reader  client.Reader // without a cache
	account Account
	log     logging.Logger

	absent    []string  // when the rights were reviewed last
	forbidden []string  // as reviewed last
	reviewed  time.Time // zero: never
}

// New returns a Keeper that looks through clients, for the rights of Crossplane's
// service account.
func New(clients kubernetes.Interface, c client.Client, reader client.Reader, crossplane Account, log logging.Logger) *Keeper {
	return &Keeper{clients: clients, client: c, reader: reader, account: crossplane, log: log}
}

// Start looks again and again, until ctx ends. Without the right to look or to write it
// says so once: nothing is known then, and objects are composed as if nothing were
// missing.
func (k *Keeper) Start(ctx context.Context) error {
	failed := ""
	for ctx.Err() == nil {
		wait, problem := often, ""
		if err := k.once(ctx, time.Now()); err != nil {
			problem = err.Error()
			if apierrors.IsForbidden(err) {
				wait = seldom
			}
		}
		if problem != "" && problem != failed && ctx.Err() == nil {
			k.log.Info("cannot check the prerequisites of the cluster", "error", problem)
		}
		failed = problem
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

// once looks once, and writes what has changed.
func (k *Keeper) once(ctx context.Context, now time.Time) error {
	present, absent, err := kinds(k.clients)
	if err != nil {
		return err
	}
	if err := k.review(ctx, present, absent, now); err != nil {
		return err
	}
	found := prerequisites.Found{Absent: absent, Forbidden: k.forbidden}
	if found.StorageClasses, err = classes(ctx, k.clients); err != nil {
		return err
	}
	return k.write(ctx, found)
}

// review reviews the rights if that is due. Those on a kind are reviewed before the
// Function learns that the kind exists. After an error, what was found before stands.
func (k *Keeper) review(ctx context.Context, present []prerequisites.Needed, absent []string, now time.Time) error {
	if len(k.forbidden) == 0 && slices.Equal(absent, k.absent) && now.Sub(k.reviewed) < seldom {
		return nil
	}
	missing, err := forbidden(ctx, k.clients, k.account, present)
	if err != nil {
		return err
	}
	k.absent, k.forbidden, k.reviewed = absent, missing, now
	return nil
}

// write applies the EnvironmentConfig unless it says the same.
func (k *Keeper) write(ctx context.Context, found prerequisites.Found) error {
	owner, err := k.owner(ctx)
	if err != nil {
		return err
	}
	seen := object()
	err = k.reader.Get(ctx, client.ObjectKey{Name: prerequisites.Name}, seen)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read EnvironmentConfig %q: %w", prerequisites.Name, err)
	}
	data, encodeErr := encode(found)
	if encodeErr != nil {
		return encodeErr
	}
	if err == nil && reflect.DeepEqual(seen.Object["data"], any(data)) && slices.Contains(seen.GetOwnerReferences(), owner) {
		return nil
	}
	want := object()
	want.SetName(prerequisites.Name)
	want.SetOwnerReferences([]metav1.OwnerReference{owner})
	want.Object["data"] = data
	if err := k.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(want), manager, client.ForceOwnership); err != nil {
		return fmt.Errorf("cannot write EnvironmentConfig %q: %w", prerequisites.Name, err)
	}
	return nil
}

// owner refers to the CRD of a managed kind. Without the managed kinds, what was found
// has to go: it proves to the Function that they exist.
func (k *Keeper) owner(ctx context.Context) (metav1.OwnerReference, error) {
	name := strings.ToLower(v1alpha1.KindProviderConfigUsage) + "s." + v1alpha1.Group
	var crd extv1.CustomResourceDefinition
	if err := k.client.Get(ctx, client.ObjectKey{Name: name}, &crd); err != nil {
		return metav1.OwnerReference{}, fmt.Errorf("cannot read CustomResourceDefinition %q: %w", name, err)
	}
	return metav1.OwnerReference{APIVersion: extv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: name, UID: crd.UID}, nil
}

func object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(prerequisites.APIVersion)
	u.SetKind(prerequisites.Kind)
	return u
}

func encode(found prerequisites.Found) (map[string]any, error) {
	raw, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(raw, &out)
}
