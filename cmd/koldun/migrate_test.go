package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/cmd/koldun/render"
	"github.com/gorizond/koldun/internal/fault"
)

// TestMigrate converts the examples of the old systems, and manifests with all
// fields of each kind. The claims and notes are in golden files, which UPDATE=1
// writes; koldun render composes the claims.
func TestMigrate(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, folder := range []string{"examples", "fields"} {
		found, err := manifests(filepath.Join("migrate", "testdata", folder))
		if err != nil || len(found) == 0 {
			t.Fatalf("there are no manifests: %v", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			claims, notes := migrated(t, MigrateCmd{Files: []string{file}})
			for _, secret := range []string{"secret-word", "token-word", "k0ldun"} {
				if strings.Contains(claims+notes, secret) {
					t.Errorf("the output has the secret %q", secret)
				}
			}
			if strings.Count(notes, ": lost: ") != strings.Count(claims, "# lost: ") {
				t.Logf("an object without a claim has notes of its own")
			}
			golden(t, filepath.Join("migrate", "testdata", "golden", filepath.Base(filepath.Dir(file))+"-"+filepath.Base(file)), claims)
			composes(t, schemas, claims)
		})
	}
}

func migrated(t *testing.T, c MigrateCmd) (claims, notes string) {
	t.Helper()
	if c.Flavour == "" {
		c.Flavour = "namespaced"
	}
	var out, errs bytes.Buffer
	if err := c.run(t.Context(), strings.NewReader(""), &out, &errs); err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String()
}

func golden(t *testing.T, file, got string) {
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
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); UPDATE=1 accepts it:\n%s", file, diff)
	}
}

// composes holds that the claims are accepted and composed.
func composes(t *testing.T, schemas *validation.Schemas, text string) {
	t.Helper()
	if text == "" {
		return
	}
	file := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := claims.Read(t.Context(), schemas, []string{singleTeam, file})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := render.Claims(t.Context(), render.Config{Schemas: schemas, Image: "ghcr.io/gorizond/koldun:golden"}, read, &out); err != nil {
		t.Error(err)
	}
}

func TestMigrateStrict(t *testing.T) {
	c := MigrateCmd{Files: []string{"migrate/testdata/examples/koldun-model.yaml"}, Flavour: "namespaced", Strict: true}
	var out, errs bytes.Buffer
	if err := c.run(t.Context(), strings.NewReader(""), &out, &errs); !fault.Is(err, fault.Unsupported) {
		t.Errorf("a manifest with lost fields: %v", err)
	}
	if where := "koldun-model.yaml:29: Model default/mistral-convert: lost: spec.pipProxy: "; !strings.Contains(errs.String(), where) {
		t.Errorf("no note begins with %q:\n%s", where, errs.String())
	}
}

// TestMigrateVolumes makes preConverted Models of exported ones.
func TestMigrateVolumes(t *testing.T) {
	const exported = `{"apiVersion": "v1", "kind": "List", "items": [
		{"apiVersion": "koldun.gorizond.io/v1", "kind": "Model", "metadata": {"name": "m", "namespace": "ns", "uid": "x"},
			"spec": {"sourceUrl": "https://huggingface.co/org/repo", "localPath": "m", "conversion": {"weightsFloatType": "q40"}},
			"status": {"outputPVCName": "m-s3-output-pvc", "conversionSizeBytes": 1000}},
		{"apiVersion": "koldun.gorizond.io/v1", "kind": "Dllama", "metadata": {"name": "d", "ownerReferences": [{"kind": "Session", "name": "s"}]}, "spec": {}}]}`
	for name, c := range map[string]MigrateCmd{"Kept": {AdoptVolumes: true, Flavour: "namespaced"}, "NotKept": {Flavour: "namespaced"}} {
		t.Run(name, func(t *testing.T) {
			c.Files = []string{"-"}
			var out, errs bytes.Buffer
			if err := c.run(t.Context(), strings.NewReader(exported), &out, &errs); err != nil {
				t.Fatal(err)
			}
			const want = "  preConverted: true\n  preConvertedPVCName: m-s3-output-pvc\n  preConvertedSizeBytes: 1000\n"
			if strings.Contains(out.String(), want) != c.AdoptVolumes || strings.Contains(out.String(), "kind: Dllama") || strings.Contains(out.String(), "uid") {
				t.Errorf("the claims are\n%s", out.String())
			}
			if !strings.Contains(errs.String(), `made it for Session "s"`) {
				t.Errorf("the notes are\n%s", errs.String())
			}
		})
	}
}

// TestMigrateGoesOn converts what it can beside objects that it cannot convert.
func TestMigrateGoesOn(t *testing.T) {
	const labeler = "apiVersion: premlabs.io/v1alpha1\nkind: AutoNodeLabeler\nmetadata: {name: %s}\nspec: {labels: {a: b}, matchExpression: {key: gpu, operator: %s}}\n---\n"
	const model = "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: %s}\nspec: {sourceUrl: hf://org/repo, localPath: s3://b/m}\n---\n"
	const stack = "apiVersion: models.titanml.co/v1alpha1\nkind: ModelOrchestra\nmetadata: {name: %s}\nspec: {applications: {%s: {readerConfig: {modelName: org/m, device: cpu, accessToken: %s}}}}\n---\n"
	const token = "apiVersion: koldun.gorizond.io/v1\nkind: Token\nmetadata: {name: t}\nspec: {hash: abc}\n---\n"
	const bus = "apiVersion: koldun.gorizond.io/v1\nkind: %s\nmetadata: {name: tiny}\nspec: {%s, nats: {url: 'nats://%s'}}\n---\n"
	for name, c := range map[string]struct {
		in        string
		terraform bool
		claims    []string
		says      string
		kind      fault.Kind
	}{
		"OneCannot":       {fmt.Sprintf(labeler, "{name: bad}", "Has") + fmt.Sprintf(labeler, "good", "Exists"), false, []string{"name: good"}, "error: cannot convert AutoNodeLabeler", fault.Invalid},
		"SameClusterName": {fmt.Sprintf(labeler, "gpu, namespace: ns1", "Exists") + fmt.Sprintf(labeler, "gpu, namespace: ns2", "Exists"), false, []string{"name: gpu"}, "rename one of them", fault.Invalid},
		"DotAndDash":      {fmt.Sprintf(model, "a.b") + fmt.Sprintf(model, "a-b"), false, []string{"name: a-b"}, "rename one of them", fault.Invalid},
		"SameSecret":      {fmt.Sprintf(stack, "a", "b-c", "t0ken") + fmt.Sprintf(stack, "a-b", "c", "0ther"), false, []string{"name: a-b-c-token"}, `needs the key "token" in Secret "a-b-c-token", too, with another value; rename one of them`, fault.Invalid},
		"SameValue":       {fmt.Sprintf(stack, "a", "b-c", "t0ken") + fmt.Sprintf(stack, "a-b", "c", "t0ken"), false, []string{"name: a\n", "name: a-b\n"}, "the secret is not copied", ""},
		"SameLogin":       {fmt.Sprintf(bus, "Model", "sourceUrl: hf://org/repo, localPath: s3://b/m", "u:s3cr@h") + fmt.Sprintf(bus, "Dllama", "modelRef: {name: tiny}", "u:s3cr@h:4222,nats://u:s3cr@i"), false, []string{"kind: Model\n", "kind: Dllama\n"}, `refers to Secret "tiny-nats"`, ""},
		"OtherLogin":      {fmt.Sprintf(bus, "Model", "sourceUrl: hf://org/repo, localPath: s3://b/m", "u:s3cr@h") + fmt.Sprintf(bus, "Dllama", "modelRef: {name: tiny}", "u:0ther@h"), false, []string{"kind: Model\n"}, `needs Secret "tiny-nats", too, with another value`, fault.Invalid},
		"DotsAllowed":     {"apiVersion: premlabs.io/v1alpha1\nkind: AIModelMap\nmetadata: {name: phi-1.5}\nspec: {vllm: [{variant: a, uri: org/repo}]}\n", false, []string{"name: phi-1.5"}, "", ""},
		"TwoNamespaces":   {fmt.Sprintf(model, "m, namespace: x") + fmt.Sprintf(model, "m, namespace: y") + fmt.Sprintf(model, "m, namespace: z"), true, []string{`"koldun_model" "m"`, `"koldun_model" "y_m"`, `"koldun_model" "z_m"`, `to = koldun_model.y_m`}, "", ""},
		"TokenAsHCL":      {token + fmt.Sprintf(model, "m"), true, []string{`"koldun_model" "m"`}, "lost: the Terraform provider has no resource for a Secret", fault.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			cmd := MigrateCmd{Files: []string{"-"}, Flavour: "namespaced", Terraform: c.terraform, Strict: true}
			err := cmd.run(t.Context(), strings.NewReader(c.in), &out, &errs)
			if c.kind == "" && err != nil || c.kind != "" && !fault.Is(err, c.kind) {
				t.Errorf("the error is %v", err)
			}
			for _, want := range c.claims {
				if strings.Count(out.String(), want) != 1 {
					t.Errorf("%q is not there once:\n%s", want, out.String())
				}
			}
			if !strings.Contains(errs.String(), c.says) {
				t.Errorf("nothing says %q:\n%s", c.says, errs.String())
			}
		})
	}
}
