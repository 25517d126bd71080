// Package prerequisites finds out what a cluster lacks of what Koldun's objects need,
// and keeps it in an EnvironmentConfig, which the Function reads.
package prerequisites

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
			wait, problem = seldom, err.Error()
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
	if len(k.forbidden) > 0 || now.Sub(k.reviewed) >= seldom {
		if k.forbidden, err = forbidden(ctx, k.clients, k.account, present); err != nil {
			return err
		}
		k.reviewed = now
	}
	found := prerequisites.Found{Absent: absent, Forbidden: k.forbidden}
	if found.StorageClasses, err = classes(ctx, k.clients); err != nil {
		return err
	}
	return k.write(ctx, found)
}

// write applies the EnvironmentConfig unless it says the same.
func (k *Keeper) write(ctx context.Context, found prerequisites.Found) error {
	seen := object()
	err := k.reader.Get(ctx, client.ObjectKey{Name: prerequisites.Name}, seen)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read EnvironmentConfig %q: %w", prerequisites.Name, err)
	}
	data, encodeErr := encode(found)
	if encodeErr != nil {
		return encodeErr
	}
	if err == nil && reflect.DeepEqual(seen.Object["data"], any(data)) {
		return nil
	}
	want := object()
	want.SetName(prerequisites.Name)
	want.Object["data"] = data
	if err := k.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(want), manager, client.ForceOwnership); err != nil {
		return fmt.Errorf("cannot write EnvironmentConfig %q: %w", prerequisites.Name, err)
	}
	return nil
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
