package model

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// A layout says where the files of all commits of a Model are in the object store.
type layout struct {
	spec              v1.ModelSpec
	ref               modelref.Ref
	source, converted place
	own               string // folder of the namespace in all buckets; empty if claims choose folders
}

func layoutOf(s v1.ModelSpec) (out layout, problem string) {
	out.spec = s
	if out.ref, problem = sourceOf(s); problem != "" {
		return out, problem
	}
	out.source, out.converted, problem = placesOf(s)
	return out, problem
}

// ownFolder is the folder that the platform team gives the namespace in all buckets, as
// the Bucket says; empty if claims choose folders, or the Bucket has not been observed.
func ownFolder(c *compose.Call, bucket string) string {
	var seen v1alpha1.Bucket
	c.Observed(resBucket(bucket), &seen)
	return seen.Status.AtProvider.NamespaceFolder
}

// outside says which folder that the claim names is not in the one of the namespace;
// empty if all are.
func (l layout) outside(namespace string) string {
	field := "spec.localPath"
	places := []place{l.source}
	if converts(l.spec) {
		places = append(places, l.converted)
	}
	for i, at := range places {
		if c := l.spec.Conversion; i > 0 && c != nil && c.OutputPath != "" {
			field = "spec.conversion.outputPath"
		}
		if l.own == "" || at.prefix == "" || strings.HasPrefix(at.prefix, l.own+"/") {
			continue
		}
		return fmt.Sprintf("%s: namespace %q may write folder %q of bucket %q and no other: name a folder in %s/, or leave the field out",
			field, namespace, l.own, at.bucket, l.own)
	}
	return ""
}

// repository is the folder of the repository. A hub that the claim names has a folder
// of its own, because it may give anything the name and commit of a repository of the
// public one. No repository's name begins with an underscore.
func (l layout) repository() string {
	_, host, named := strings.Cut(l.ref.Endpoint, "://")
	if !named {
		return l.ref.Repo
	}
	return path.Join("_hubs", names.Join(48, strings.NewReplacer(":", "-", "[", "", "]", "").Replace(host), names.Hash(8, l.ref.Endpoint)), l.ref.Repo)
}

// sourcePrefix and convertedPrefix are the folders of all commits.
func (l layout) sourcePrefix() string {
	return cmp.Or(l.source.prefix, path.Join(l.own, "source", l.repository()))
}

func (l layout) convertedPrefix() string {
	return cmp.Or(l.converted.prefix, path.Join(l.own, "converted", l.repository()))
}

// access is what the Jobs do in the object store.
func (l layout) access() []v1alpha1.BucketAccess {
	out := []v1alpha1.BucketAccess{{Prefix: l.sourcePrefix(), Write: true}}
	if converts(l.spec) {
		c := v1alpha1.BucketAccess{Prefix: l.convertedPrefix(), Write: true}
		if b := l.converted.bucket; b != l.source.bucket {
			c.Bucket = b
		}
		out = append(out, c)
	}
	return out
}

// buckets lists the distinct buckets of the Model.
func (l layout) buckets() []string {
	out := []string{l.source.bucket}
	if b := l.converted.bucket; b != out[0] && converts(l.spec) {
		out = append(out, b)
	}
	return out
}

// servedBucket is the bucket of the files that the Model is for.
func (l layout) servedBucket() string {
	if converts(l.spec) {
		return l.converted.bucket
	}
	return l.source.bucket
}

// at returns the folders of the files of a commit. They are content-addressed: another
// commit, other files or another type of weights is another folder, and nothing else is.
func (l layout) at(commit string) Location {
	folder := commit
	if d := l.spec.Download; d != nil && len(d.Include)+len(d.Exclude) > 0 {
		folder += "-" + names.Hash(8, append(append([]string{"include"}, d.Include...), append([]string{"exclude"}, d.Exclude...)...)...)
	}
	out := Location{Ref: l.ref, Source: "s3://" + path.Join(l.source.bucket, l.sourcePrefix(), folder)}
	if converts(l.spec) {
		out.Weights = weightsOf(l.spec.Conversion)
		out.Converted = "s3://" + path.Join(l.converted.bucket, l.convertedPrefix(), commit, out.Weights)
	}
	return out
}
