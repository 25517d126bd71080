package manager_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

// hubToken is the token that the hub of a world requires.
const hubToken = "token-of-the-hub"

// newLifecycleWorld returns a world whose servers can be made unreachable.
func newLifecycleWorld(t *testing.T, l lifecycle) *world {
	t.Helper()
	w := newWorld(t)
	w.connect()
	if l.prepare != nil {
		l.prepare(w)
	}
	return w
}

// in returns the world for a subtest of the test that it was made for.
func (w *world) in(t *testing.T) *world {
	out := *w
	out.t = t
	return &out
}

// connect adds a hub to the world, and puts a proxy that can refuse connections
// before its object store: a stopped S3 gateway may not get its port again.
func (w *world) connect() {
	w.t.Helper()
	w.hub = hubtest.New(w.t, hubtest.Options{Token: hubToken}, map[string][]byte{"config.json": []byte(`{"model_type":"llama"}`)})
	w.s3at = s3test.Front(w.t, w.s3.Config(), func(rw http.ResponseWriter, _ *http.Request) bool {
		if !w.s3down.Load() {
			return false
		}
		if h, ok := rw.(http.Hijacker); ok {
			if conn, _, err := h.Hijack(); err == nil {
				_ = conn.Close()
			}
		}
		return true
	}).Endpoint
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: w.ns}}
	w.change(secret, func() { secret.Data["token"] = []byte(hubToken) })
	w.configure(func(p *v1alpha1.ProviderConfigSpec) {
		p.S3.Endpoint = w.s3at
		p.Hub = &v1alpha1.HubConfig{Endpoint: w.hub.URL, SecretRef: p.S3.SecretRef}
	})
	w.queue()
	if _, err := w.store().CreateBucket(w.t.Context(), &s3.CreateBucketInput{Bucket: aws.String("models")}); err != nil {
		w.t.Fatal(err)
	}
}

// endpoint returns the part of a server's address that errors must contain.
func (w *world) endpoint(s server) string {
	switch s {
	case onNATS:
		return w.nats.URL()
	case onS3:
		return strings.TrimPrefix(w.s3at, "http://")
	case onHub:
		return strings.TrimPrefix(w.hub.URL, "http://")
	case onCluster:
	}
	return ""
}

func (w *world) stop(s server) {
	w.t.Helper()
	switch s {
	case onNATS:
		w.nats.Stop()
	case onS3:
		w.s3down.Store(true)
	case onHub:
		w.hub.Break(hubtest.Rule{Do: hubtest.Status(http.StatusServiceUnavailable, "")})
	case onCluster:
		w.t.Fatal("the cluster cannot be stopped")
	}
}

func (w *world) resume(s server) {
	w.t.Helper()
	switch s {
	case onNATS:
		w.nats.Restart()
	case onS3:
		w.s3down.Store(false)
	case onHub:
		w.hub.Mend()
	case onCluster:
	}
}

// observed waits until the provider has observed the present generation of a
// resource, whether or not the external resource exists.
func (w *world) observed(m resource.ModernManaged) {
	w.t.Helper()
	w.eventually(m.GetName()+" to be observed", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		if c := m.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionTrue || c.ObservedGeneration != m.GetGeneration() {
			return fmt.Errorf("synced %s %q", c.Status, c.Message)
		}
		return nil
	})
}

// endNamespace deletes the world's namespace, and waits until it no longer exists.
func (w *world) endNamespace() {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	if err := w.client.Delete(w.t.Context(), ns); err != nil {
		w.t.Fatal(err)
	}
	w.eventually("the end of the namespace", func() error {
		err := w.client.Get(w.t.Context(), client.ObjectKeyFromObject(ns), ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("namespace still exists, conditions %v: %w", ns.Status.Conditions, err)
	})
}

// specOf returns the spec of a resource as JSON.
func specOf(m resource.ModernManaged) string {
	raw, err := json.Marshal(reflect.ValueOf(m).Elem().FieldByName("Spec").Interface())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// handledAt returns status.lastHandledReconcileAt, which all kinds have.
func handledAt(m resource.ModernManaged) string {
	return reflect.ValueOf(m).Elem().FieldByName("Status").FieldByName("LastHandledReconcileAt").String()
}
