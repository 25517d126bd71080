package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// An object is one of a manifest.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
	} `json:"spec"`
	raw string
}

func (o object) name() string {
	return strings.Join([]string{o.APIVersion, o.Kind, o.Metadata.Namespace, o.Metadata.Name}, " ")
}

// objects returns those of a manifest in their order.
func objects(t *testing.T, manifest string) []object {
	t.Helper()
	var out []object
	for document := range strings.SplitSeq("\n"+manifest, "\n---\n") {
		raw := must(yaml.YAMLToJSON([]byte(document)))(t)
		var o object
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "" {
			o.raw = string(raw)
			out = append(out, o)
		}
	}
	return out
}

// everything compares koldun-crds.yaml and koldun.yaml with the chart. A user who applies them
// in this order needs nothing else: each object comes after its namespace and its CRD.
func (p published) everything(t *testing.T) {
	crds, rest := objects(t, string(p.read(t, "koldun-crds.yaml"))), objects(t, string(p.read(t, "koldun.yaml")))
	got, want := map[string]string{}, map[string]string{}
	for _, o := range append(crds, rest...) {
		if got[o.name()] != "" {
			t.Errorf("%s is there twice", o.name())
		}
		got[o.name()] = o.raw
	}
	chart := filepath.Join(p.files, "koldun-1.2.3-rc.1.tgz")
	for _, o := range objects(t, must(render(t.Context(), built(t, "helm"), chart, "--set", "nats.install=true,s3.install=true,keep=false"))(t)) {
		want[o.name()] = o.raw
	}
	namespace := object{APIVersion: "v1", Kind: "Namespace"}
	namespace.Metadata.Name = installed
	want[namespace.name()] = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"crossplane-system"}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files are not what the chart installs (-chart +files):\n%s", diff)
	}
	served, namespaces := map[string]bool{}, map[string]bool{"": true, "default": true, "kube-system": true}
	for _, o := range crds {
		if o.Kind != "CustomResourceDefinition" {
			t.Errorf("koldun-crds.yaml has %s", o.name())
		}
		served[o.Spec.Group+" "+o.Spec.Names.Kind] = true
	}
	custom := 0
	for _, o := range rest {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		switch {
		case o.Kind == "CustomResourceDefinition":
			t.Errorf("koldun.yaml has %s", o.name())
		case !strings.Contains(group, "."), strings.HasSuffix(group, ".k8s.io"): // of the API server
			if o.Metadata.Namespace == "" && o.Kind != "Namespace" && !strings.HasPrefix(o.Kind, "Cluster") {
				t.Errorf("%s lacks the namespace, which Helm would add", o.name())
			}
		case !served[group+" "+o.Kind]:
			t.Errorf("koldun-crds.yaml lacks the CRD of %s", o.name())
		default:
			custom++
		}
		if !namespaces[o.Metadata.Namespace] {
			t.Errorf("%s comes before its namespace", o.name())
		}
		if o.Kind == "Namespace" {
			namespaces[o.Metadata.Name] = true
		}
	}
	if custom < 5 || !namespaces["nats"] || !namespaces["s3"] {
		t.Errorf("koldun.yaml has %d objects of CRDs, and the namespaces %v", custom, namespaces)
	}
}
