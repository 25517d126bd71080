package router_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// TestEveryFieldCounts walks all fields of the specs of all kinds. Each one changes
// what is composed, or it is named in the condition LegacyFields, in each flavour.
//
// A field is tried with several valid values in each of the worlds of its kind, until
// two of the values compose different objects.
func TestEveryFieldCounts(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := worlds()
	for _, kind := range router.Kinds() {
		crd := definition(t, kind)
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		fields := walk(nil, spec)
		if len(fields) == 0 || len(all[kind]) == 0 {
			t.Fatalf("kind %s has %d fields and %d worlds", kind, len(fields), len(all[kind]))
		}
		flavours := map[string]bool{"Namespaced": false, "Claims": true}
		if crd.Spec.Scope == extv1.ClusterScoped {
			delete(flavours, "Claims")
		}
		for flavour, claims := range flavours {
			t.Run(kind+"/"+flavour, func(t *testing.T) {
				t.Parallel()
				if raceEnabled && kind != "Model" {
					t.Skip("the race detector makes the walk five times as slow, and one kind walks through the same shared code; run it with: go test -run TestEveryFieldCounts ./functions/router")
				}
				w := &walker{t: t, schemas: schemas, kind: kind, spec: spec, worlds: slices.Clone(all[kind]), claims: claims, cluster: crd.Spec.Scope == extv1.ClusterScoped}
				for _, f := range fields {
					if problem := w.try(f); problem != "" {
						t.Errorf("spec%s %s", f.text(), problem)
					}
				}
			})
		}
	}
}

// definition returns the CRD of a composite kind.
func definition(t *testing.T, kind string) *extv1.CustomResourceDefinition {
	t.Helper()
	files, err := fs.Glob(crds.Files, "koldun.gorizond.io_*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		crd, err := crds.Definition(file)
		if err != nil {
			t.Fatal(err)
		}
		if crd.Spec.Names.Kind == kind {
			return crd
		}
	}
	t.Fatalf("kind %s has no CRD", kind)
	return nil
}

// oneMeaning reports whether all values of a field say the same: the kind of a
// reference that has no other.
func oneMeaning(f leaf) bool {
	n := len(f.path)
	return n > 1 && f.path[n-2] == "modelRef" && (f.path[n-1] == "kind" || f.path[n-1] == "apiGroup")
}

// A walker tries the fields of one kind in one flavour.
type walker struct {
	t       *testing.T
	schemas *validation.Schemas
	kind    string
	spec    extv1.JSONSchemaProps
	worlds  []world
	claims  bool
	cluster bool
}

// try returns what is wrong with a field, or "".
func (w *walker) try(f leaf) string {
	if len(f.schema.Enum) == 1 || oneMeaning(f) {
		return "" // there is nothing to choose
	}
	valid := false
	var refusal error
	for i, world := range w.worlds {
		var outcomes []string
		refused := false // where another value is accepted
		values := candidates(f.schema, f.path[len(f.path)-1])
		if len(values) == 1 { // it differs from none only
			without := w.composite(world)
			if err := w.schemas.Check(w.t.Context(), without); err != nil {
				w.t.Fatal(err)
			}
			outcome, _ := w.compose(world, without)
			outcomes = append(outcomes, outcome)
		}
		for _, value := range values {
			composite := w.composite(world)
			set(composite, append([]string{"spec"}, f.path...), extv1.JSONSchemaProps{Properties: map[string]extv1.JSONSchemaProps{"spec": w.spec}}, value)
			if err := w.schemas.Check(w.t.Context(), composite); err != nil {
				refusal, refused = err, true
				continue
			}
			valid = true
			outcome, legacy := w.compose(world, composite)
			if legacy(f) || len(outcomes) > 0 && !slices.Contains(outcomes, outcome) {
				w.prefer(i)
				return ""
			}
			outcomes = append(outcomes, outcome)
		}
		choice := len(f.schema.Enum) > 0 || f.schema.Type == "boolean"
		if choice && refused && len(outcomes) > 0 {
			return ""
		}
	}
	if refusal != nil && !valid && strings.HasPrefix(refusal.Error(), "spec"+strings.ReplaceAll(f.text(), ".applications.a.", ".applications[a].")+":") {
		return "" // the rule is about this field
	}
	if !valid {
		return fmt.Sprintf("has no valid value in any world: %v", refusal)
	}
	return "changes nothing, and is not named in LegacyFields"
}

// prefer makes a world the first that the next field is tried in: fields that stand
// together in a schema often count in the same world.
func (w *walker) prefer(i int) {
	first := w.worlds[i]
	w.worlds = slices.Insert(slices.Delete(w.worlds, i, i+1), 0, first)
}

func (w *walker) composite(from world) map[string]any {
	spec := runtime.DeepCopyJSON(from.spec)
	meta := map[string]any{"name": "x"}
	if !w.cluster {
		meta["namespace"] = "ns"
	}
	return map[string]any{"apiVersion": v1.APIVersion, "kind": w.kind, "metadata": meta, "spec": spec}
}

// compose returns all that is composed of a composite in all states of a world, and
// whether a field is named in LegacyFields.
func (w *walker) compose(in world, composite map[string]any) (outcome string, legacy func(leaf) bool) {
	composite = runtime.DeepCopyJSON(composite)
	if in.reader != nil {
		return w.read(in, composite), func(leaf) bool { return false }
	}
	if w.claims {
		composite["kind"] = "X" + w.kind
		composite["metadata"] = map[string]any{"name": "x-abcde"}
		spec, _ := composite["spec"].(map[string]any)
		spec["claimRef"] = map[string]any{"name": "x", "namespace": "ns"}
	}
	var ignored []string
	for _, s := range in.states {
		if s.status != "" {
			var status map[string]any
			if err := yaml.Unmarshal([]byte(s.status), &status); err != nil {
				w.t.Fatal(err)
			}
			composite["status"] = status
		}
		rsp := w.run(s, composite)
		for _, r := range rsp.GetResults() {
			w.t.Fatalf("cannot compose %v: %s", composite, r.GetMessage())
		}
		for _, c := range rsp.GetConditions() {
			if c.GetType() == v1.ConditionLegacyFields {
				_, list, _ := strings.Cut(c.GetMessage(), ": ")
				ignored = append(ignored, strings.Split(list, ", ")...)
			}
		}
		outcome += text(rsp)
	}
	return outcome, func(f leaf) bool {
		path := "spec" + f.text()
		return slices.ContainsFunc(ignored, func(i string) bool {
			return path == i || strings.HasPrefix(path, i+".") || strings.HasPrefix(path, i+"[") || strings.HasPrefix(i, path+"[")
		})
	}
}

// read returns what is composed of the composite that reads this one.
func (w *walker) read(in world, composite map[string]any) string {
	composite["status"] = in.reader.status
	raw, err := yaml.Marshal(composite)
	if err != nil {
		w.t.Fatal(err)
	}
	s := in.states[0]
	s.required = maps.Clone(s.required)
	s.required[in.reader.key] = []string{string(raw)}
	return text(w.run(s, in.reader.composite))
}

// run composes until all that the state observes exists.
func (w *walker) run(s worldState, composite map[string]any) *fnv1.RunFunctionResponse {
	xr, err := structpb.NewStruct(plain(composite))
	if err != nil {
		w.t.Fatal(err)
	}
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}, Resources: map[string]*fnv1.Resource{}}, RequiredResources: map[string]*fnv1.Resources{}}
	for key, manifests := range s.required {
		req.RequiredResources[key] = &fnv1.Resources{}
		for _, m := range manifests {
			req.RequiredResources[key].Items = append(req.RequiredResources[key].Items, object(w.t, m))
		}
	}
	for name, manifest := range s.observed {
		if hashes.MatchString(name) {
			req.Observed.Resources[name] = object(w.t, manifest)
		}
	}
	for {
		rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(w.t.Context(), req)
		if err != nil {
			w.t.Fatal(err)
		}
		more := false
		for name := range rsp.GetDesired().GetResources() {
			manifest, ok := s.observed[hashes.ReplaceAllString(name, "")]
			if _, seen := req.Observed.Resources[name]; ok && !seen {
				req.Observed.Resources[name], more = object(w.t, manifest), true
			}
		}
		if !more {
			return rsp
		}
	}
}

// hashes end the names of composed resources of which there are several.
var hashes = regexp.MustCompile("(-[0-9a-f]{8})+$")

// text is the answer without the condition LegacyFields.
func text(rsp *fnv1.RunFunctionResponse) string {
	kept := &fnv1.RunFunctionResponse{Desired: rsp.GetDesired(), Requirements: rsp.GetRequirements()}
	for _, c := range rsp.GetConditions() {
		if c.GetType() == v1.ConditionServing {
			kept.Conditions = append(kept.Conditions, c)
		}
	}
	raw, _ := proto.MarshalOptions{Deterministic: true}.Marshal(kept)
	return string(raw)
}

// plain has only the types that structpb knows.
func plain(v map[string]any) map[string]any {
	raw, _ := json.Marshal(v)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}
