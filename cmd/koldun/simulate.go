package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/names"
)

// simulate gives an object the status that it has when all is well, so that
// render can show what follows from it. An artifact is whole when the Job
// that makes it was there.
func simulate(obj local.Object, observed map[string]local.Object) local.Object {
	out := local.Object(maps.Clone(map[string]any(obj)))
	ready := []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available"}}
	status := map[string]any{"conditions": ready}
	switch key := obj.Key(); key.Kind {
	case "HubRevision":
		status["atProvider"] = map[string]any{"commit": strings.Repeat("0", 40)}
	case "ModelArtifact":
		status["atProvider"] = artifact(obj, observed)
	case "Deployment", "StatefulSet":
		status["readyReplicas"] = 1.0
	case "Job":
		status["succeeded"] = 1.0
	}
	out["status"] = status
	return out
}

func artifact(obj local.Object, observed map[string]local.Object) map[string]any {
	var seen struct {
		Spec struct {
			ForProvider struct {
				URL string `json:"url"`
			} `json:"forProvider"`
		} `json:"spec"`
		Status struct {
			AtProvider map[string]any `json:"atProvider"`
		} `json:"status"`
	}
	for _, other := range observed {
		if other.Key() == obj.Key() && other.Decode(&seen) == nil && seen.Status.AtProvider["whole"] == true {
			return seen.Status.AtProvider
		}
	}
	if obj.Decode(&seen) != nil || !made(seen.Spec.ForProvider.URL, observed) {
		return nil
	}
	parts := strings.Split(seen.Spec.ForProvider.URL, "/")
	found := map[string]any{"whole": true}
	if len(parts) < 3 || !strings.Contains(seen.Spec.ForProvider.URL, "/converted/") {
		return found
	}
	weights, name := parts[len(parts)-1], parts[len(parts)-3]
	found["weights"] = weights
	found["modelFile"] = names.ModelFile(name, weights)
	found["tokenizerFile"] = names.TokenizerFile(name)
	return found
}

// made reports whether a Job that writes to the URL has run.
func made(url string, observed map[string]local.Object) bool {
	for _, obj := range observed {
		var job struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args []string `json:"args"`
						} `json:"containers"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		if obj.Key().Kind != "Job" || obj.Decode(&job) != nil {
			continue
		}
		for _, c := range job.Spec.Template.Spec.Containers {
			if slices.Contains(c.Args, "--to="+url) {
				return true
			}
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
