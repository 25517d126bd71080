package model

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// DefaultBucket keeps the files of Models that name no bucket.
const DefaultBucket = "koldun-models"

// A place is a bucket and a prefix in it; an empty prefix is one made of the
// repository's name.
type place struct{ bucket, prefix string }

// placesOf are where the source files and the converted ones go.
func placesOf(s v1.ModelSpec) (source, converted place, problem string) {
	store := storeOf(s)
	source.bucket = cmp.Or(store.BucketForSource, DefaultBucket)
	if source, problem = source.at("spec.localPath", s.LocalPath); problem != "" {
		return source, converted, problem
	}
	converted = place{bucket: cmp.Or(store.BucketForConvert, source.bucket)}
	if c := s.Conversion; c != nil && c.OutputPath != "" {
		converted, problem = converted.at("spec.conversion.outputPath", c.OutputPath)
		return source, converted, problem
	}
	if source.prefix != "" {
		converted.prefix = path.Join(source.prefix, "converted")
		source.prefix = path.Join(source.prefix, "source")
	}
	return source, converted, ""
}

// at is the place that s3://BUCKET/PREFIX or PREFIX names. An own bucket wins.
func (p place) at(field, s string) (place, string) {
	if s == "" {
		return p, ""
	}
	prefix := s
	if strings.Contains(s, "://") {
		ref, err := modelref.Parse(s)
		if err != nil {
			return p, fmt.Sprintf("%s: %v", field, err)
		}
		if ref.Scheme != modelref.S3 {
			return p, fmt.Sprintf("%s: %q is not s3://BUCKET/PREFIX", field, s)
		}
		p.bucket, prefix = ref.Bucket, ref.Path
	}
	// Cleaned as an absolute path, it cannot lead out of the bucket.
	p.prefix = strings.TrimPrefix(path.Clean("/"+prefix), "/")
	if strings.ContainsAny(p.prefix, " \t\r\n?#%\\*$") {
		return p, fmt.Sprintf("%s: %q holds characters that no prefix may have", field, s)
	}
	return p, ""
}

// storeOf is the object store that a Model names, in the new way or the old.
func storeOf(s v1.ModelSpec) v1.ObjectStorage {
	var out v1.ObjectStorage
	if s.ObjectStorage != nil {
		out = *s.ObjectStorage
	}
	c := s.CacheSpec
	if c == nil {
		return out
	}
	if out.Endpoint == "" && out.ProviderConfigRef == nil {
		out.Endpoint = c.Endpoint
	}
	if out.SecretRef == nil && out.ProviderConfigRef == nil {
		out.SecretRef = c.SecretRef
	}
	out.BucketForSource = cmp.Or(out.BucketForSource, c.Bucket)
	return out
}
