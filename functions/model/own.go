package model

import (
	"fmt"
	"strings"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// ownFolder is the folder that the platform team gives the namespace in all buckets, as
// the Bucket says; empty if claims choose folders, or the Bucket has not been observed.
func (p *modelPlan) ownFolder() string {
	var seen v1alpha1.Bucket
	p.Observed(resBucket(p.buckets()[0]), &seen)
	return seen.Status.AtProvider.NamespaceFolder
}

// outside says which folder that the claim names is not in the one of the namespace;
// empty if all are.
func (p *modelPlan) outside() string {
	field := "spec.localPath"
	places := []place{p.places.source}
	if p.converts() {
		places = append(places, p.places.converted)
	}
	for i, at := range places {
		if c := p.m.Spec.Conversion; i > 0 && c != nil && c.OutputPath != "" {
			field = "spec.conversion.outputPath"
		}
		if p.own == "" || at.prefix == "" || strings.HasPrefix(at.prefix, p.own+"/") {
			continue
		}
		return fmt.Sprintf("%s: namespace %q may write folder %q of bucket %q and no other: name a folder in %s/, or leave the field out",
			field, p.m.Namespace, p.own, at.bucket, p.own)
	}
	return ""
}
