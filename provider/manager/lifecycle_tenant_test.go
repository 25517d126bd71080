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

// hubToken is the token that the hub of a tenant requires.
const hubToken = "token-of-the-hub"

// newLifecycleTenant returns a tenant whose servers can be made unreachable.
func newLifecycleTenant(t *testing.T, l lifecycle) *tenant {
	t.Helper()
	w := newTenant(t)
	w.servers.connect()
	if l.prepare != nil {
		l.prepare(w)
	}
	return w
}

// in returns the tenant for a subtest of the test that it was made for.
func (w *tenant) in(t *testing.T) *tenant {
	n, a, b, s := *w.namespace, *w.account, *w.buckets, *w.servers
	n.t = t
	return tenantOf(&n, &a, &b, &s)
}

// connect adds a hub to the tenant, and puts a proxy that can refuse connections
// before its object store: a stopped S3 gateway may not get its port again.
func (sv *servers) connect() {
	sv.t.Helper()
	sv.hub = hubtest.New(sv.t, hubtest.Options{Token: hubToken}, map[string][]byte{"config.json": []byte(`{"model_type":"llama"}`)})
	sv.s3at = s3test.Front(sv.t, sv.buckets.s3.Config(), func(rw http.ResponseWriter, _ *http.Request) bool {
		if !sv.s3down.Load() {
			return false
		}
		if h, ok := rw.(http.Hijacker); ok {
			if conn, _, err := h.Hijack(); err == nil {
				_ = conn.Close()
			}
		}
		return true
	}).Endpoint
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: sv.ns}}
	sv.change(secret, func() { secret.Data["token"] = []byte(hubToken) })
	sv.config.configure(func(p *v1alpha1.ProviderConfigSpec) {
		p.S3.Endpoint = sv.s3at
		p.Hub = &v1alpha1.HubConfig{Endpoint: sv.hub.URL, SecretRef: p.S3.SecretRef}
	})
	sv.account.queue()
	if _, err := sv.buckets.store().CreateBucket(sv.t.Context(), &s3.CreateBucketInput{Bucket: aws.String("models")}); err != nil {
		sv.t.Fatal(err)
	}
}

// endpoint returns the part of a server's address that errors must contain.
func (sv *servers) endpoint(s server) string {
	switch s {
	case onNATS:
		return sv.account.server.URL()
	case onS3:
		return strings.TrimPrefix(sv.s3at, "http://")
	case onHub:
		return strings.TrimPrefix(sv.hub.URL, "http://")
	case onCluster:
	}
	return ""
}

func (sv *servers) stop(s server) {
	sv.t.Helper()
	switch s {
	case onNATS:
		sv.account.server.Stop()
	case onS3:
		sv.s3down.Store(true)
	case onHub:
		sv.hub.Break(hubtest.Rule{Do: hubtest.Status(http.StatusServiceUnavailable, "")})
	case onCluster:
		sv.t.Fatal("the cluster cannot be stopped")
	}
}

func (sv *servers) resume(s server) {
	sv.t.Helper()
	switch s {
	case onNATS:
		sv.account.server.Restart()
	case onS3:
		sv.s3down.Store(false)
	case onHub:
		sv.hub.Mend()
	case onCluster:
	}
}

// observed waits until the provider has observed the present generation of a
// resource, whether or not the external resource exists.
func (r *resources) observed(m resource.ModernManaged) {
	r.t.Helper()
	r.eventually(m.GetName()+" to be observed", func() error {
		if err := r.get(m); err != nil {
			return err
		}
		if c := m.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionTrue || c.ObservedGeneration != m.GetGeneration() {
			return fmt.Errorf("synced %s %q", c.Status, c.Message)
		}
		return nil
	})
}

// endNamespace deletes the namespace of the tenant, and waits until it no longer exists.
func (ob *objects) endNamespace() {
	ob.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ob.ns}}
	if err := ob.client.Delete(ob.t.Context(), ns); err != nil {
		ob.t.Fatal(err)
	}
	ob.eventually("the end of the namespace", func() error {
		err := ob.client.Get(ob.t.Context(), client.ObjectKeyFromObject(ns), ns)
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
