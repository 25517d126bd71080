package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/cmd/koldun/render"
)

// singleTeam allows claims everything.
const singleTeam = "../../package/single-team.yaml"

// everything holds an Ingress with every setting of its gateway, and a Model of a
// private repository on another hub.
const everything = `
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata: {name: all, namespace: ns}
spec:
  backend:
    isolation: conversation
    maxSessions: 4
    conversationTTL: 5m
    strictParameters: true
    responseTimeout: 1m
    queueTimeout: 2m
    requestTimeout: 3m
    limits: {requestsPerMinute: 1, tokensPerMinute: 2, concurrentRequests: 3}
    queue: {maxPerSession: 4, maxPerTenant: 5, maxAttempts: 6}
---
apiVersion: koldun.gorizond.io/v1
kind: Model
metadata: {name: private, namespace: ns}
spec:
  sourceUrl: https://hub.example/org/private
  download: {huggingFaceTokenSecretRef: {name: hub}}
`

// TestComposedArgumentsAreUnderstood parses the arguments of all containers of
// this binary that the examples compose.
func TestComposedArgumentsAreUnderstood(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(all, []byte(everything), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := claims.Read(t.Context(), schemas, []string{singleTeam, all})
	if err != nil {
		t.Fatal(err)
	}
	var rendered bytes.Buffer
	if err := render.Claims(t.Context(), render.Config{Schemas: schemas, Image: "ghcr.io/gorizond/koldun:golden"}, read, &rendered); err != nil {
		t.Fatal(err)
	}
	texts := []string{rendered.String()}
	if want := "--token-endpoint=https://hub.example"; !strings.Contains(texts[0], want) {
		t.Errorf("the Job that downloads a private model lacks %s", want)
	}
	golden, err := filepath.Glob("render/testdata/golden/*.yaml")
	if err != nil || len(golden) == 0 {
		t.Fatalf("there are no golden files: %v", err)
	}
	for _, name := range golden {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	commands := map[string]bool{}
	for _, text := range texts {
		for _, args := range composedArgs(t, text) {
			commands[args[0]] = true
			parser, err := kong.New(&CLI{}, kong.Vars{"image": "koldun"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(args); err != nil {
				t.Errorf("koldun %s: %v", strings.Join(args, " "), err)
			}
		}
	}
	for _, want := range []string{"gateway", "dispatcher", "llm", "fetch", "convert", "install", "supervise", "engine"} {
		if !commands[want] {
			t.Errorf("no example runs koldun %s", want)
		}
	}
}

// composedArgs returns the arguments of the containers of this binary in rendered
// documents.
func composedArgs(t *testing.T, text string) (out [][]string) {
	t.Helper()
	port, other := regexp.MustCompile(`\$\(KOLDUN_PORT_\w+\)`), regexp.MustCompile(`\$\(\w+\)`)
	for _, doc := range strings.Split(text, "\n---\n") {
		var o struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			continue // not a workload
		}
		for _, c := range slices.Concat(o.Spec.Template.Spec.InitContainers, o.Spec.Template.Spec.Containers) {
			if c.Image != "ghcr.io/gorizond/koldun:golden" && (len(c.Command) == 0 || filepath.Base(c.Command[0]) != "koldun") {
				continue
			}
			args := slices.Clone(c.Args)
			for i := range args {
				args[i] = other.ReplaceAllString(port.ReplaceAllString(args[i], "1"), "x")
			}
			out = append(out, args)
		}
	}
	return out
}
