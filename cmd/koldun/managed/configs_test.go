package managed

import (
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/requeue"
)

// Each section comes from the claims, from the embedded servers, or is left to the
// ClusterProviderConfig default.
func TestSectionsOfConfigs(t *testing.T) {
	const own, folder, mirror = "nats://own", "http://folder", "https://mirror"
	token := &v1alpha1.CredentialsReference{Name: "hub", Namespace: "ns"}
	claim := func(endpoint string) *v1alpha1.ProviderConfigSpec {
		return &v1alpha1.ProviderConfigSpec{
			NATS: &v1alpha1.NATSConfig{URL: "nats://claimed"}, S3: &v1alpha1.S3Config{Endpoint: "http://claimed"},
			Hub: &v1alpha1.HubConfig{Endpoint: endpoint, SecretRef: token},
		}
	}
	type want struct{ nats, hub, token string } // "" for a section that is left out
	for name, c := range map[string]struct {
		name     string
		claim    *v1alpha1.ProviderConfigSpec // nil: none
		embedded bool
		hub      string
		want     *want // nil: NotFound
	}{
		"Claimed":             {"default", claim(mirror), false, "", &want{"nats://claimed", mirror, "hub"}},
		"NoDefault":           {"default", nil, false, "", &want{nats: own}},
		"NoOther":             {"other", nil, false, "", nil},
		"EmbeddedKeepsToken":  {"default", claim(""), true, "", &want{own, "", "hub"}},
		"EmbeddedKeepsMirror": {"default", claim(mirror), true, "", &want{own, mirror, "hub"}},
		"EmbeddedOther":       {"other", claim(mirror), true, "", &want{"", mirror, "hub"}},
		"EmbeddedNoOther":     {"other", nil, true, "", &want{}},
		"FolderNoOther":       {"other", nil, true, folder, &want{"", folder, ""}},
		"Folder":              {"default", nil, false, folder, &want{own, folder, ""}},
		"FolderNotPublic":     {"default", claim(""), false, folder, &want{"nats://claimed", folder, ""}},
		"FolderNotNamed":      {"other", claim("https://huggingface.co/"), true, folder, &want{"", folder, ""}},
		"FolderNotMirror":     {"default", claim(mirror), false, folder, &want{"nats://claimed", mirror, "hub"}},
	} {
		t.Run(name, func(t *testing.T) {
			known := newConfigs(Config{
				NATS: bus.Config{URL: own}, S3: s3.Config{Endpoint: "http://own"}, Hub: c.hub, EmbeddedOnly: c.embedded,
				Configs: func(string, string, string) (local.Object, bool) {
					if c.claim == nil {
						return nil, false
					}
					obj, err := local.NewObject(map[string]any{"spec": c.claim})
					if err != nil {
						t.Fatal(err)
					}
					return obj, true
				},
			}, requeue.NewTracker())
			var got v1alpha1.ClusterProviderConfig
			err := known.Get(t.Context(), types.NamespacedName{Name: c.name}, &got)
			if c.want == nil {
				if !apierrors.IsNotFound(err) {
					t.Errorf("got %v, want NotFound", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			seen := want{}
			if got.Spec.NATS != nil {
				seen.nats = got.Spec.NATS.URL
			}
			if (got.Spec.NATS == nil) != (got.Spec.S3 == nil) {
				t.Errorf("only one of NATS and S3 is described: %+v", got.Spec)
			}
			if got.Spec.Hub != nil {
				seen.hub = got.Spec.Hub.Endpoint
				if got.Spec.Hub.SecretRef != nil {
					seen.token = got.Spec.Hub.SecretRef.Name
				}
			}
			if !reflect.DeepEqual(seen, *c.want) {
				t.Errorf("got %+v, want %+v", seen, *c.want)
			}
		})
	}
}
