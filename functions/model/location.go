package model

import (
	"cmp"
	"errors"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A Location is where a Model's files come from, and where they go.
type Location struct {
	Ref       modelref.Ref // of the hub, with the wanted revision
	Source    string       // URL of the folder of the source files
	Converted string       // URL of the folder of the converted files; empty: none are made
	Weights   string       // type of the converted weights
}

// served is the folder of the files that the Model is for.
func (l Location) served() string { return cmp.Or(l.Converted, l.Source) }

// SourceOf returns the repository of the hub that a Model names.
func SourceOf(s v1.ModelSpec) (modelref.Ref, error) {
	ref, problem := sourceOf(s)
	if problem != "" {
		return ref, errors.New(problem)
	}
	return ref, nil
}

// Locate returns the folders of the files of a commit.
func Locate(s v1.ModelSpec, commit string) (Location, error) {
	to, problem := layoutOf(s)
	if problem != "" {
		return Location{}, errors.New(problem)
	}
	return to.at(commit), nil
}

// sourceOf is the repository of the hub that a Model names.
func sourceOf(s v1.ModelSpec) (ref modelref.Ref, problem string) {
	ref, err := modelref.Parse(s.SourceURL)
	if err != nil {
		return ref, fmt.Sprintf("spec.sourceUrl: %v", err)
	}
	if ref.Scheme != modelref.Hub {
		return ref, fmt.Sprintf("spec.sourceUrl: %q is not a hub's repository: write https://huggingface.co/ORG/REPO", s.SourceURL)
	}
	ref.Revision = cmp.Or(s.Revision, ref.Revision)
	return ref, ""
}

// conversionNone is the value of spec.conversion.type without a conversion.
const conversionNone = "None"

// converts reports whether the source files are converted.
func converts(s v1.ModelSpec) bool { return s.Conversion == nil || s.Conversion.Type != conversionNone }

func weightsOf(c *v1.Conversion) string {
	switch {
	case c != nil && c.ConvertWeights != "":
		return c.ConvertWeights
	case c != nil && c.WeightsFloatType != "":
		return c.WeightsFloatType
	}
	return string(topology.Q40)
}
