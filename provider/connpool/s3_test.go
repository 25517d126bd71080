package connpool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// TestRegionOfTheSecret checks that the region of a Secret counts where the object store
// is described without one.
func TestRegionOfTheSecret(t *testing.T) {
	for name, c := range map[string]struct {
		described string
		secret    map[string]string
		want      string
	}{
		"Described":   {"a", map[string]string{"AWS_REGION": "b"}, "a"},
		"Secret":      {"", map[string]string{"AWS_REGION": "b", "region": "c"}, "b"},
		"DefaultName": {"", map[string]string{"aws_default_region": "b\n"}, "b"},
		"ShortName":   {"", map[string]string{"region": "c"}, "c"},
		"Nowhere":     {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{"accessKey": []byte("k"), "secretKey": []byte("s")}
			for key, value := range c.secret {
				data[key] = []byte(value)
			}
			got := s3store.Config{Region: c.described}
			readCredentials(data).s3(&got)
			if diff := cmp.Diff(s3store.Config{Region: c.want, AccessKey: "k", SecretKey: "s"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
