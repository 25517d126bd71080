// Package composetest runs the composition of one kind in tests, and compares
// all that it answers with a file.
package composetest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// Image is the image of Koldun's binary in all tests.
const Image = "koldun:test"

// States of composed resources that many cases share.
const (
	Ready   = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {ports: [4222]}}"
	Serving = "status: {conditions: [{type: Serving, status: 'True', reason: Available}]}"
	OnePod  = "status: {readyReplicas: 1}"
)

// A Case is one call, and what it must answer. Objects are YAML.
type Case struct {
	Composite string
	// Observed are the composed resources by name. A name whose hash is not
	// known, "fetch" for "fetch-01234567", stands for the one with the hash.
	Observed map[string]string
	// Required are the objects that were found for each requirement. An empty
	// list means that none was; no entry, that Crossplane has not looked yet.
	Required map[string][]string
	// Crossplane says what it supports, so that prerequisites of the cluster are required.
	Crossplane bool
	// Schemas are the kinds that were looked for, and whether they exist.
	Schemas map[string]bool
	// Reason and Says are the reason of the condition Serving, and a part of
	// its message.
	Reason reason.Reason
	Says   string
}

// Table runs cases, and compares each response with testdata/NAME.yaml.
// UPDATE=1 writes these files.
func Table(t *testing.T, composeKind func(*compose.Call) error, cases map[string]Case) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := Run(t, composeKind, c)
			checkServing(t, rsp, c)
			compare(t, filepath.Join("testdata", name+".yaml"), text(t, rsp))
		})
	}
}

// Run composes until every observed resource has the name that it is composed
// under.
func Run(t *testing.T, composeKind func(*compose.Call) error, c Case) *fnv1.RunFunctionResponse {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: Object(t, c.Composite), Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{},
	}
	for name, manifest := range c.Observed {
		req.Observed.Resources[name] = Object(t, manifest)
	}
	for name, manifests := range c.Required {
		found := &fnv1.Resources{}
		for _, m := range manifests {
			found.Items = append(found.Items, Object(t, m))
		}
		req.RequiredResources[name] = found
	}
	if c.Crossplane {
		req.Meta = &fnv1.RequestMeta{Capabilities: []fnv1.Capability{
			fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS,
		}}
	}
	req.RequiredSchemas = map[string]*fnv1.Schema{}
	for name, exists := range c.Schemas {
		req.RequiredSchemas[name] = &fnv1.Schema{}
		if exists {
			req.RequiredSchemas[name].OpenapiV3 = &structpb.Struct{}
		}
	}
	for {
		rsp := &fnv1.RunFunctionResponse{}
		if err := composeKind(compose.New(compose.Config{Image: Image, Trusted: true}, req, rsp)); err != nil {
			t.Fatalf("cannot compose: %v", err)
		}
		if !addHashes(req, rsp) {
			return rsp
		}
	}
}

// Refuses wants an error for a composite.
func Refuses(t *testing.T, composeKind func(*compose.Call) error, composite string) {
	t.Helper()
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: Object(t, composite)}}
	if err := composeKind(compose.New(compose.Config{Image: Image, Trusted: true}, req, &fnv1.RunFunctionResponse{})); err == nil {
		t.Errorf("composed: %s", composite)
	}
}

var hash = regexp.MustCompile("-[0-9a-f]{8}$")

// addHashes renames observed resources to the names that are desired, and
// reports whether there were any.
func addHashes(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) (more bool) {
	for name := range rsp.GetDesired().GetResources() {
		plain := hash.ReplaceAllString(name, "")
		if o, ok := req.GetObserved().GetResources()[plain]; ok && plain != name {
			delete(req.Observed.Resources, plain)
			req.Observed.Resources[name], more = o, true
		}
	}
	return more
}

// Object reads an object.
func Object(t *testing.T, manifest string) *fnv1.Resource {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatalf("cannot read %q: %v", manifest, err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(raw); err != nil {
		t.Fatalf("cannot read %q: %v", manifest, err)
	}
	return &fnv1.Resource{Resource: s}
}

// Names returns the names of the desired resources, sorted and without hashes.
func Names(rsp *fnv1.RunFunctionResponse) []string {
	var out []string
	for name := range maps.Keys(rsp.GetDesired().GetResources()) {
		out = append(out, hash.ReplaceAllString(name, ""))
	}
	slices.Sort(out)
	return out
}

func checkServing(t *testing.T, rsp *fnv1.RunFunctionResponse, c Case) {
	t.Helper()
	count := 0
	for _, cond := range rsp.GetConditions() {
		if cond.GetStatus() == fnv1.Status_STATUS_CONDITION_FALSE && cond.GetMessage() == "" {
			t.Errorf("condition %s is false for reason %s, and has no message", cond.GetType(), cond.GetReason())
		}
		if cond.GetType() != v1.ConditionServing {
			continue
		}
		count++
		if cond.GetReason() != string(c.Reason) || !strings.Contains(cond.GetMessage(), c.Says) {
			t.Errorf("Serving has reason %q and message %q, want %q and %q", cond.GetReason(), cond.GetMessage(), c.Reason, c.Says)
		}
	}
	if count != 1 {
		t.Errorf("there are %d conditions Serving, want 1", count)
	}
}

// text is a response as YAML. protojson varies its white space on purpose, so
// the response is decoded again.
func text(t *testing.T, rsp *fnv1.RunFunctionResponse) string {
	t.Helper()
	raw, err := protojson.Marshal(rsp)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("cannot read what is wanted (UPDATE=1 writes it): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); UPDATE=1 accepts it:\n%s", file, diff)
	}
}
