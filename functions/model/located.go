package model

import (
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/model/modelref"
)

// A Location is where a Model's files come from, and where they go.
type Location struct {
	Ref       modelref.Ref // of the hub, with the wanted revision
	Source    string       // URL of the folder of the source files
	Converted string       // URL of the folder of the converted files; empty: none are made
	Weights   string       // type of the converted weights
}

// SourceOf returns the repository of the hub that a Model names.
func SourceOf(s v1.ModelSpec) (modelref.Ref, error) {
	ref, problem := sourceOf(s)
	if problem != "" {
		return ref, fmt.Errorf("%s", problem)
	}
	return ref, nil
}

// Locate returns the folders of the files of a commit.
func Locate(s v1.ModelSpec, commit string) (Location, error) {
	ref, err := SourceOf(s)
	if err != nil {
		return Location{}, err
	}
	p := &modelPlan{m: v1.Model{Spec: s}, weights: weightsOf(s.Conversion), store: storeOf(s), ref: ref, commit: commit}
	var problem string
	if p.places, problem = placesOf(s, p.store); problem != "" {
		return Location{}, fmt.Errorf("%s", problem)
	}
	out := Location{Ref: ref, Source: p.sourceURL()}
	if p.converts() {
		out.Converted, out.Weights = p.convertedURL(), p.weights
	}
	return out, nil
}
