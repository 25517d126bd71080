package prerequisites

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/prerequisites"
)

func TestClassesOf(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	class := func(name string, after time.Duration, annotation string) storagev1.StorageClass {
		return storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(began.Add(after)), Annotations: map[string]string{annotation: "true"},
		}}
	}
	const ga, beta = "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"
	cases := map[string]struct {
		items []storagev1.StorageClass
		want  prerequisites.StorageClasses
	}{
		"None":      {nil, prerequisites.StorageClasses{Names: []string{}}},
		"NoDefault": {[]storagev1.StorageClass{class("b", 0, "x"), class("a", 0, "x")}, prerequisites.StorageClasses{Names: []string{"a", "b"}}},
		"Default":   {[]storagev1.StorageClass{class("b", 0, ga), class("a", 0, "x")}, prerequisites.StorageClasses{Names: []string{"a", "b"}, Default: "b"}},
		"Beta":      {[]storagev1.StorageClass{class("a", 0, beta)}, prerequisites.StorageClasses{Names: []string{"a"}, Default: "a"}},
		"Newest":    {[]storagev1.StorageClass{class("a", 0, ga), class("b", time.Hour, ga), class("c", time.Minute, ga)}, prerequisites.StorageClasses{Names: []string{"a", "b", "c"}, Default: "b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(&c.want, classesOf(c.items)); diff != "" {
				t.Errorf("classes differ (-want +got):\n%s", diff)
			}
		})
	}
}
