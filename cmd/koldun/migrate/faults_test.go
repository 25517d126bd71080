package migrate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/hcl"
)

const (
	labeler = "apiVersion: premlabs.io/v1alpha1\nkind: AutoNodeLabeler\nmetadata: {name: gpu, namespace: ns1}\nspec: "
	deploy  = "apiVersion: premlabs.io/v1alpha1\nkind: AIDeployment\nmetadata: {name: d, namespace: ns}\nspec:\n  engine: {name: vllm}\n  models: [{uri: org/repo}]\n  "
	orch    = "apiVersion: models.titanml.co/v1alpha1\nkind: ModelOrchestra\nmetadata: {name: o, namespace: ns}\nspec: "
	aReader = "{readerConfig: {modelName: org/model, device: cpu}}"
)

// TestFaults holds what single values do to the rest of an object.
func TestFaults(t *testing.T) {
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprintf("a%d: %s", i, aReader)
	}
	for name, c := range map[string]struct {
		in            string
		has, hasNot   []string // in the claims
		notes, errors string
	}{
		"ExistsWithValues":   {labeler + `{matchExpression: {key: gpu, operator: Exists, values: ["true"]}, labels: {a: b}}`, []string{"operator: Exists"}, []string{"values"}, "matchExpression.values: they had no effect", ""},
		"InWithoutValues":    {labeler + `{matchExpression: {key: gpu, operator: In}, labels: {a: b}}`, nil, nil, "", "need values"},
		"OneBadValue":        {labeler + `{matchExpression: {key: gpu, operator: In, values: [1]}, labels: {a: b}}`, nil, nil, "", "matchExpression"},
		"BadOperator":        {labeler + `{matchExpression: {key: gpu, operator: Has}, labels: {a: b}}`, nil, nil, "", "matchExpression.operator"},
		"UnknownCriterion":   {labeler + `{matchExpression: {key: gpu, operator: Exists}, namespaced: true, labels: {a: b}}`, nil, nil, "", "without it more is selected"},
		"NoCriterion":        {labeler + `{labels: {a: b}}`, nil, nil, "", "labels every node"},
		"NotIn":              {labeler + `{matchExpression: {key: gpu, operator: NotIn, values: [x]}, labels: {a: b}}`, []string{"operator: NotIn"}, nil, "Prem-Operator did nothing for NotIn", ""},
		"ForbiddenLabel":     {labeler + `{matchExpression: {key: gpu, operator: Exists}, labels: {a: b, node-role.kubernetes.io/gpu: ""}}`, []string{"a: b"}, []string{"node-role"}, "belong to Kubernetes", ""},
		"OnlyForbidden":      {labeler + `{matchExpression: {key: gpu, operator: Exists}, labels: {node-role.kubernetes.io/gpu: ""}}`, nil, nil, "", "no label is left"},
		"OneBadApplication":  {orch + `{applications: {good: ` + aReader + `, Bad_Name: ` + aReader + `}}`, []string{"good:"}, []string{"Bad_Name:"}, "applications.Bad_Name: it is refused", ""},
		"ManyApplications":   {orch + `{applications: {` + strings.Join(many, ", ") + `}}`, nil, nil, "", "spec.applications"},
		"OneBadExtra":        {orch + `{applications: {a: {readerConfig: {modelName: m, device: cpu, extra: {"good": x, "bad key": "y"}}}}}`, []string{"good: x"}, []string{"bad key:"}, "bad key", ""},
		"TemplateSecrets":    {orch + `{applicationTemplate: {env: [{name: HF_TOKEN, value: one}]}, applications: {template: {env: [{name: HF_TOKEN, value: two}], readerConfig: {modelName: m, device: cpu}}}}`, []string{"name: o.template-env", "name: o-template-env"}, nil, "", ""},
		"NameOfTheChart":     {strings.Replace(orch, "ModelOrchestra", "InferenceStack", 1) + `{applications: {a: ` + aReader + `}}`, []string{"nameOverride: inference-stack"}, nil, "named after its chart", ""},
		"EnvSecrets":         {deploy + `env: [{name: LICENSE_KEY, value: s3cr}, {name: DB_PASS, value: s3cr}, {name: PRIVATE_KEY, value: "s3cr\nx"}, {name: DB, value: "pg://u:s3cr@h/d"}, {name: A_KEY, value: $(B)}]`, []string{"key: DB_PASS", "value: $(B)", "name: d-env-private-key"}, []string{"s3cr"}, "", ""},
		"Args":               {deploy + `args: [--api-key, s3cr, --hf-token=s3cr, --tokenizer, t, --max-num-batched-tokens, "8", --api-key, $(K)]`, []string{"--tokenizer", "--max-num-batched-tokens", "- $(K)"}, []string{"s3cr", "--hf-token"}, "the secret of --api-key is not copied", ""},
		"TemplateArgs":       {deploy + `deployment: {template: {spec: {containers: [{name: serving, command: [sh, -c, "vllm serve m --api-key s3cr --port 1"], args: [--password=s3cr]}]}}}`, []string{"vllm serve m", "--port 1"}, []string{"s3cr"}, "", ""},
		"CredentialsInURL":   {strings.Replace(deploy, "org/repo", "https://u:s3cr@h/r", 1) + `args: [--x=https://t0ken@h/]`, []string{"https://h/r", "--x=https://h/"}, []string{"s3cr", "t0ken"}, "the credentials of its URL", ""},
		"LineBreakInAField":  {orch + `{applications: {a: ` + aReader + `}, "x\n---\nkind: Evil": 1, "y\u2028\u0085---": 2}`, []string{`\n---\nkind: Evil`}, []string{"\nkind: Evil"}, "has no such field", ""},
		"RefusedListIsWhole": {deploy + `endpoint: {}`, nil, nil, "", "endpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMigrator(t, Options{})
			docs, err := Read("f.yaml", strings.NewReader(c.in))
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Convert(t.Context(), docs[0])
			if c.errors != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.errors) {
					t.Errorf("the error is %v, want %q; claims %v", err, c.errors, r.Objects)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var claims, terraform bytes.Buffer
			if err := WriteYAML(&claims, r); err != nil {
				t.Fatal(err)
			}
			if err := WriteHCL(&terraform, r, hcl.Addresses{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.has {
				if !strings.Contains(claims.String(), want) {
					t.Errorf("the claims lack %q:\n%s", want, claims.String())
				}
			}
			body := claims.String()
			if strings.HasPrefix(name, "One") || strings.HasPrefix(name, "Forbidden") || strings.HasPrefix(name, "Exists") || name == "Args" {
				body = withoutComments(body)
			}
			for _, bad := range c.hasNot {
				if strings.Contains(body, bad) {
					t.Errorf("the claims have %q:\n%s", bad, claims.String())
				}
			}
			notes := ""
			for _, n := range r.Notes {
				if strings.ContainsAny(n.Line(), "\n\r\u0085\u2028\u2029") {
					t.Errorf("the note %q has several lines", n.Line())
				}
				notes += n.Line() + "\n"
			}
			if !strings.Contains(notes, c.notes) {
				t.Errorf("no note says %q:\n%s", c.notes, notes)
			}
			if docs, err := Read("out", &claims); err != nil || len(docs) != len(r.Objects) {
				t.Errorf("the output has %d documents: %v", len(docs), err)
			}
		})
	}
}

func TestWordsOfCommands(t *testing.T) {
	for in, want := range map[string]string{"all-env": "all-env", "": "''", "x; reboot": "'x; reboot'", "a'b": `'a'\''b'`, "$(id)": "'$(id)'", "a\nb": "'a\nb'"} {
		if got := word(in); got != want {
			t.Errorf("%q is written %s, want %s", in, got, want)
		}
	}
}

func withoutComments(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
