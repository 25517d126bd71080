package model

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// DefaultBucket keeps the files of Models that name no bucket.
const DefaultBucket = "koldun-models"

// A place is a bucket and a prefix in it; an empty prefix is one made of the
// repository's name.
type place struct{ bucket, prefix string }

// places are where the source files and the converted ones go.
type places struct{ source, converted place }

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

func placesOf(s v1.ModelSpec, store v1.ObjectStorage) (out places, problem string) {
	out.source.bucket = cmp.Or(store.BucketForSource, DefaultBucket)
	if out.source, problem = out.source.at("spec.localPath", s.LocalPath); problem != "" {
		return out, problem
	}
	out.converted = place{bucket: cmp.Or(store.BucketForConvert, out.source.bucket)}
	if c := s.Conversion; c != nil && c.OutputPath != "" {
		out.converted, problem = out.converted.at("spec.conversion.outputPath", c.OutputPath)
		return out, problem
	}
	if out.source.prefix != "" {
		out.converted.prefix = path.Join(out.source.prefix, "converted")
		out.source.prefix = path.Join(out.source.prefix, "source")
	}
	return out, ""
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

// repository is the folder of the repository. A hub that the claim names has a folder
// of its own, because it may give anything the name and commit of a repository of the
// public one. No repository's name begins with an underscore.
func (p *modelPlan) repository() string {
	_, host, named := strings.Cut(p.ref.Endpoint, "://")
	if !named {
		return p.ref.Repo
	}
	return path.Join("_hubs", names.Join(48, strings.NewReplacer(":", "-", "[", "", "]", "").Replace(host), names.Hash(8, p.ref.Endpoint)), p.ref.Repo)
}

// sourcePrefix and convertedPrefix are the folders of all commits.
func (p *modelPlan) sourcePrefix() string {
	return cmp.Or(p.places.source.prefix, path.Join(p.own, "source", p.repository()))
}

func (p *modelPlan) convertedPrefix() string {
	return cmp.Or(p.places.converted.prefix, path.Join(p.own, "converted", p.repository()))
}

// access is what the Jobs do in the object store.
func (p *modelPlan) access() []v1alpha1.BucketAccess {
	out := []v1alpha1.BucketAccess{{Prefix: p.sourcePrefix(), Write: true}}
	if p.converts() {
		c := v1alpha1.BucketAccess{Prefix: p.convertedPrefix(), Write: true}
		if b := p.places.converted.bucket; b != p.places.source.bucket {
			c.Bucket = b
		}
		out = append(out, c)
	}
	return out
}

// sourceURL and convertedURL are content-addressed: another commit, other
// files or another type of weights is another folder, and nothing else is.
func (p *modelPlan) sourceURL() string {
	folder := p.commit
	if d := p.m.Spec.Download; d != nil && len(d.Include)+len(d.Exclude) > 0 {
		folder += "-" + names.Hash(8, append(append([]string{"include"}, d.Include...), append([]string{"exclude"}, d.Exclude...)...)...)
	}
	return "s3://" + path.Join(p.places.source.bucket, p.sourcePrefix(), folder)
}

func (p *modelPlan) convertedURL() string {
	return "s3://" + path.Join(p.places.converted.bucket, p.convertedPrefix(), p.commit, p.weights)
}

// servedURL is the folder of the files that the Model is for.
func (p *modelPlan) servedURL() string {
	if p.converts() {
		return p.convertedURL()
	}
	return p.sourceURL()
}

func (p *modelPlan) servedPlace() place {
	if p.converts() {
		return p.places.converted
	}
	return p.places.source
}

// buckets lists the distinct buckets of the Model.
func (p *modelPlan) buckets() []string {
	out := []string{p.places.source.bucket}
	if b := p.places.converted.bucket; b != out[0] && p.converts() {
		out = append(out, b)
	}
	return out
}

// artifactName is the name in the file names: the repository's, so that Models
// of the same source share files.
func (p *modelPlan) artifactName() string {
	return names.Join(48, strings.ReplaceAll(strings.ReplaceAll(path.Base(p.ref.Repo), ".", "-"), "_", "-"))
}
