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

// TestDialectOfTheSecret checks that a Secret may say how its object store is addressed, and
// that it refuses checksums.
func TestDialectOfTheSecret(t *testing.T) {
	secret := readCredentials(map[string][]byte{
		"accessKey": []byte("k"), "KOLDUN_S3_ADDRESSING": []byte("virtual"), "AWS_REQUEST_CHECKSUM_CALCULATION": []byte("when_required"),
	})
	for name, c := range map[string]struct{ described, want s3store.Config }{
		"Secret":    {s3store.Config{}, s3store.Config{Addressing: "virtual", PlainParts: true, AccessKey: "k"}},
		"Described": {s3store.Config{Addressing: "path"}, s3store.Config{Addressing: "path", PlainParts: true, AccessKey: "k"}},
	} {
		t.Run(name, func(t *testing.T) {
			secret.s3(&c.described)
			if diff := cmp.Diff(c.want, c.described); diff != "" {
				t.Error(diff)
			}
		})
	}
}
