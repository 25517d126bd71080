package connpool_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/provider/connpool"
)

// TestIdentityOfThePod has a namespace name an object store without a Secret, which must
// not get requests with the identity of the provider's pod: neither from the provider nor
// from the pods that get the settings.
func TestIdentityOfThePod(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "of-the-pod")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	var signed []bool
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signed = append(signed, strings.Contains(r.Header.Get("Authorization")+r.URL.RawQuery, "of-the-pod"))
		w.WriteHeader(http.StatusForbidden)
	}))
	defer store.Close()
	spec := v1alpha1.ProviderConfigSpec{S3: &v1alpha1.S3Config{Endpoint: store.URL}}
	platform := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}}
	platform.Spec.ProviderConfigSpec, platform.Spec.AllowedNamespaces = spec, &v1alpha1.AllowedNamespaces{Names: []string{"ns"}}
	own := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "own"}, Spec: spec}

	for name, c := range map[string]struct {
		ref    *xpv2.ProviderConfigReference
		signed bool
		remedy string
	}{
		"ClusterProviderConfig": {nil, true, "at " + store.URL + ": "},
		"ProviderConfig":        {&xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "own"}, false, "at " + store.URL + " without credentials: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, "nats://127.0.0.1:1")
			for _, err := range []error{s.api.Create(t.Context(), platform.DeepCopy()), s.api.Create(t.Context(), own.DeepCopy())} {
				if err != nil {
					t.Fatal(err)
				}
			}
			client, cfg, err := s.pool.For(s.owner, c.ref).S3(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			env := cfg.Env()
			pod, err := s3store.NewClient(t.Context(), s3store.ConfigFromEnv(func(key string) string { return string(env[key]) }))
			if err != nil {
				t.Fatal(err)
			}
			for who, client := range map[string]*s3.Client{"provider": client, "pod": pod} {
				signed = nil
				_, err := bucket.New(client, cfg).Observe(t.Context(), bucket.Spec{BucketName: "models"})
				if len(signed) == 0 || signed[0] != c.signed {
					t.Errorf("%s: requests are signed with the identity of the pod: %v, want %v", who, signed, c.signed)
				}
				if err == nil || !strings.Contains(err.Error(), c.remedy) {
					t.Errorf("%s: got error %v, want %q in it", who, err, c.remedy)
				}
			}
		})
	}
}
