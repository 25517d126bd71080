package dllama_test

import (
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/dllama"
	"github.com/gorizond/koldun/functions/reason"
)

// TestWithdrawnGrantEndsAccess serves a Model of another namespace, and has its owner
// withdraw the grant, or Crossplane not read it.
func TestWithdrawnGrantEndsAccess(t *testing.T) {
	const (
		foreign = meta + "spec: {modelRef: {name: m, namespace: other}"
		serving = "\nstatus: {artifact: {model: other/m, " + files + "}}"
	)
	granted := strings.Replace(model("", files), "namespace: ns}", "namespace: other}", 1)
	withdrawn := strings.Replace(granted, "allowedNamespaces: [ns]", "allowedNamespaces: [another]", 1)
	observed := map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "record": composetest.Ready, "root": composetest.OnePod, "pool": composetest.Ready}
	gone := []string{}
	for name, c := range map[string]struct {
		claim, model string
		required     map[string][]string // in place of the Model
		runs         bool
		left         []string // if it does not run
	}{
		"Granted":            {claim: foreign + "}" + serving, model: granted, runs: true},
		"Withdrawn":          {claim: foreign + "}" + serving, model: withdrawn, left: gone},
		"Deleted":            {claim: foreign + "}" + serving, required: with(), left: gone},
		"NotRead":            {claim: foreign + "}" + serving, required: map[string][]string{}, runs: true},
		"WithdrawnLookalike": {claim: foreign + "}" + serving, model: strings.Replace(granted, "[ns]", "['n', other, ns2]", 1), left: gone},
		"Unreadable":         {claim: foreign + "}" + serving, model: "metadata: {name: m, namespace: other}\nspec: {allowedNamespaces: 7}", runs: true},
		"Pool":               {claim: foreign + ", expose: {scaling: {}}}" + serving, model: withdrawn, left: []string{"ingress-part"}},
		"Exposed":            {claim: foreign + ", expose: {}}" + serving, model: withdrawn, left: []string{"ingress-part"}},
		"Mistaken":           {claim: foreign + ", engine: {type: embedded}, nodes: 2}" + serving, model: withdrawn, left: gone},
		"MistakenEngine":     {claim: foreign + ", engine: {type: openai}}" + serving, model: withdrawn, left: gone},
		"OfServer":           {claim: foreign + ", " + server("profile: vllm, image: i") + "}" + serving, model: withdrawn, left: gone},
		"ReferenceChanged":   {claim: meta + "spec: {modelRef: {name: mine}, engine: {type: embedded}, nodes: 2}" + serving, required: map[string][]string{"model": {model("", files)}, "served-model": {withdrawn}}, left: gone},
	} {
		t.Run(name, func(t *testing.T) {
			required := c.required
			if required == nil {
				required = with(c.model)
			}
			rsp := composetest.Run(t, dllama.Compose, composetest.Case{Composite: c.claim, Required: required, Observed: observed})
			got := composetest.Names(rsp)
			if c.runs {
				if !slices.Contains(got, "root") || !slices.Contains(got, "bucket") {
					t.Errorf("it composes %v only", got)
				}
				return
			}
			if !slices.Equal(got, c.left) {
				t.Errorf("it composes %v, want %v", got, c.left)
			}
			said := rsp.GetConditions()
			if !slices.ContainsFunc(said, func(s *fnv1.Condition) bool {
				return s.GetType() == "Serving" && s.GetReason() == string(reason.ModelNotFound) && strings.Contains(s.GetMessage(), `or its spec.allowedNamespaces lacks namespace "ns"`)
			}) {
				t.Errorf("the conditions are %v", said)
			}
		})
	}
}
