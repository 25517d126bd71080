package connpool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/provider/requeue"
)

// TestFoldersOfNamespaces checks which folders of an object store a namespace may use.
func TestFoldersOfNamespaces(t *testing.T) {
	const shared, own = v1alpha1.KindClusterProviderConfig, v1alpha1.KindProviderConfig
	for name, c := range map[string]struct {
		kind, namespace string
		sts             *v1alpha1.S3STS
		want            *s3store.Bound
	}{
		"Default":      {shared, "team-a", &v1alpha1.S3STS{}, &s3store.Bound{Folder: "team-a"}},
		"Template":     {shared, "team-a", &v1alpha1.S3STS{NamespaceFolder: "teams/{namespace}/models", SharedFolders: []string{"platform"}}, &s3store.Bound{Folder: "teams/team-a/models", Shared: []string{"platform"}}},
		"All":          {shared, "team-a", &v1alpha1.S3STS{NamespaceFolder: "/"}, nil},
		"Platform":     {shared, "", &v1alpha1.S3STS{}, nil},
		"LastingKeys":  {shared, "team-a", nil, nil},
		"OwnStore":     {own, "team-a", &v1alpha1.S3STS{}, nil},
		"OwnTemplate":  {own, "team-a", &v1alpha1.S3STS{NamespaceFolder: "{namespace}"}, &s3store.Bound{Folder: "team-a"}},
		"OwnStoreKeys": {own, "team-a", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			of := Config{Key: requeue.Key{Kind: c.kind}, Spec: v1alpha1.ProviderConfigSpec{S3: &v1alpha1.S3Config{STS: c.sts}}}
			if diff := cmp.Diff(c.want, of.bound(c.namespace)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
