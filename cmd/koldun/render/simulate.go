package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/names"
)

// simulate gives an object the status that it has when everything is ready, so that
// render can show what is composed from it. Servers are at the usual ports. An artifact is complete when the Job that
// writes it was observed.
func simulate(obj local.Object, observed map[string]local.Object) local.Object {
	out := local.Object(maps.Clone(map[string]any(obj)))
	ready := []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available"}}
	status := map[string]any{"conditions": ready}
	switch key := obj.Key(); key.Kind {
	case "HubRevision":
		status["atProvider"] = map[string]any{"commit": strings.Repeat("0", 40), "ports": []any{443.0}}
	case "Queue", "KeyValue":
		status["atProvider"] = map[string]any{"ports": []any{4222.0}}
	case "Bucket":
		status["atProvider"] = map[string]any{"ports": []any{443.0}}
	case "ModelArtifact":
		status["atProvider"] = artifact(obj, observed)
	case "Pool":
		status["atProvider"] = map[string]any{"members": members(obj)}
	case "Deployment", "StatefulSet":
		status["readyReplicas"] = replicas(obj)
	case "Job":
		status["succeeded"] = 1.0
	}
	out["status"] = status
	return out
}

func replicas(obj local.Object) float64 {
	n := 1.0
	if obj.Decode(&n, "spec", "replicas") != nil {
		return 1
	}
	return n
}

// members returns the members of a pool without demand.
func members(pool local.Object) []any {
	var least int
	out := []any{}
	if pool.Decode(&least, "spec", "forProvider", "minMembers") != nil {
		return out
	}
	for n := range least {
		out = append(out, map[string]any{"name": strconv.Itoa(n), "phase": "Active", "ready": true})
	}
	return out
}

func artifact(obj local.Object, observed map[string]local.Object) map[string]any {
	var seen struct {
		Spec struct {
			ForProvider struct {
				URL         string `json:"url"`
				ProgressKey string `json:"progressKey"`
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
	if obj.Decode(&seen) != nil {
		return nil
	}
	at := seen.Spec.ForProvider
	if names.InVolume(at.URL) && jobWith("--progress-key="+at.ProgressKey, observed) != nil {
		return map[string]any{"whole": true} // the Job has found what the claim says
	}
	args := jobWith("--to="+at.URL, observed)
	if args == nil {
		return nil
	}
	found := map[string]any{"whole": true}
	weights, name := option(args, "--weights"), option(args, "--name")
	if weights != "" {
		found["weights"] = weights
		found["modelFile"] = names.ModelFile(name, weights)
		found["tokenizerFile"] = names.TokenizerFile(name)
	}
	return found
}

// jobWith returns the arguments of the Job that has an argument; nil if there was none.
func jobWith(argument string, observed map[string]local.Object) []string {
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
			if slices.Contains(c.Args, argument) {
				return c.Args
			}
		}
	}
	return nil
}

func option(args []string, name string) string {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}
