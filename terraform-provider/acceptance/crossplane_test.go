package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/terraform-provider/clitest"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// A stage is a cluster that runs Crossplane and pods.
type stage struct {
	*platform.Platform
	tofu *clitest.Mirror
	nats *natstest.OperatorServer
	s3   s3store.Config
	env  []string // of commands
}

// TestOnCrossplane applies the examples by the steps of their README, in a cluster
// where Koldun serves requests.
func TestOnCrossplane(t *testing.T) {
	tofu := mirror(t)
	c := cluster.Start(t, cluster.Options{})
	n, g := natstest.StartOpenOperator(t), s3test.Start(t, t.TempDir(), "")
	models, err := hubserver.New(hubserver.Config{Dir: "../../examples/models"})
	if err != nil {
		t.Fatal(err)
	}
	hub := httptest.NewServer(models)
	t.Cleanup(hub.Close)
	p, err := platform.Start(t.Context(), c, "../..", t.TempDir(), platform.Services{
		NATS: bus.Config{URL: n.URL()}, Operator: n.OperatorSecret(), S3: g.Config(), Hub: hub.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Log(p.Node.Logs())
		}
	})
	env := append(operatorOf(n), "KUBECONFIG="+c.Kubeconfig())
	s := &stage{p, tofu, n, g.Config(), env}
	t.Run("Platform", s.platform)
	if err := p.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("Quickstart", s.quickstart)
}

// quickstart gets a streamed answer after one apply, checks that the plan of a
// changed value holds only that change, and destroys everything.
func (s *stage) quickstart(t *testing.T) {
	f := s.tofu.Copy(t, "../../examples/terraform/quickstart", s.env...)
	f.OK("apply", "-auto-approve")
	url := strings.TrimSpace(f.OK("output", "-raw", "url"))
	s.answers(t, url, "none", "default/koldun-tiny")
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	f.OK("plan", "-var", "threads=2", "-out", "saved.plan")
	if got := changes(t, f.OK("show", "-json", "saved.plan")); got != "koldun_dllama.tiny update engine" {
		t.Errorf("plan of a changed value: got %q", got)
	}
	if out := f.OK("show", "saved.plan"); !strings.Contains(out, "~ threads") || !strings.Contains(out, "1 -> 2") || strings.Contains(out, "Changes to Outputs") {
		t.Errorf("the plan shows:\n%s", out)
	}
	f.OK("apply", "-auto-approve", "-var", "threads=2")
	s.answers(t, url, "none", "default/koldun-tiny")
	f.OK("destroy", "-auto-approve")
	s.nothing(t, "default")
	f.OK("test")
	s.nothing(t, "default")
}

// platform installs Koldun on a cluster with Crossplane and shares a model, in one
// apply.
func (s *stage) platform(t *testing.T) {
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "kubectl")); err != nil {
		cluster.Missing(t, "kubectl", "make bin/kubectl")
	}
	env := append(slices.Clone(s.env), "PATH="+bin+":"+os.Getenv("PATH"), `TF_VAR_tokens={"search": "a-token-of-the-search-team", "support": "a-token-of-the-support-team"}`,
		"TF_VAR_crossplane=", "TF_VAR_install="+s.Manifest())
	f := s.tofu.Copy(t, "../../examples/terraform/platform", env...)
	f.OK("apply", "-auto-approve")
	// The host of the route does not resolve here, so ask the Service.
	const url = "http://api-gateway.ai.svc.cluster.local:8082/v1"
	s.answers(t, url, "a-token-of-the-search-team", "ai/tiny")
	s.refuses(t, url, "another-token-of-the-search-team", "ai/tiny")
	// The request has started a pool. Until it is ready, an apply would wait for it, which a plan shows.
	cluster.Eventually(t, "the Session to be ready", s.ready("ai", "tiny"))
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	f.OK("destroy", "-auto-approve")
	s.nothing(t, "ai")
	f.OK("test")
	s.nothing(t, "ai")
}

// changes lists the resources that a plan changes, with the attributes that it
// changes. It leaves out attributes that are known after the apply.
func changes(t *testing.T, plan string) string {
	t.Helper()
	var p struct {
		Changes []struct {
			Address string `json:"address"`
			Change  struct {
				Actions []string       `json:"actions"`
				Before  map[string]any `json:"before"`
				After   map[string]any `json:"after"`
				Unknown map[string]any `json:"after_unknown"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		t.Fatalf("cannot read plan: %v", err)
	}
	var out []string
	for _, r := range p.Changes {
		out = append(out, r.Address)
		out = append(out, r.Change.Actions...)
		for _, name := range slices.Sorted(maps.Keys(r.Change.After)) {
			if differ(r.Change.Before[name], r.Change.After[name], r.Change.Unknown[name]) {
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, " ")
}

// differ reports whether a plan changes the known parts of a value. unknown is
// true, or a map of such values for the parts of an object.
func differ(before, after, unknown any) bool {
	if unknown == true {
		return false
	}
	b, was := before.(map[string]any)
	a, is := after.(map[string]any)
	if !was || !is {
		return !reflect.DeepEqual(before, after)
	}
	parts, _ := unknown.(map[string]any)
	for name := range b {
		if differ(b[name], a[name], parts[name]) {
			return true
		}
	}
	return false
}

// answers asks a model by the OpenAI protocol, and requires a streamed text: the first
// piece is sent at once, and what follows soon after it together. A busy machine may
// deliver one answer whole, but not several.
func (s *stage) answers(t *testing.T, url, token, model string) {
	t.Helper()
	ask := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(token), option.WithHTTPClient(s.Node.HTTP()))
	var pieces []int
	for range 5 {
		stream := ask.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
			Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
		})
		n := 0
		for stream.Next() {
			if c := stream.Current().Choices; len(c) > 0 && c[0].Delta.Content != "" {
				n++
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatalf("cannot ask %s at %s: %v", model, url, err)
		}
		if pieces = append(pieces, n); n >= 2 {
			return
		}
	}
	t.Errorf("the answers came in %v pieces: they are not streamed", pieces)
}

// refuses requires that the gateway refuses a token.
func (s *stage) refuses(t *testing.T, url, token, model string) {
	t.Helper()
	ask := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(token), option.WithHTTPClient(s.Node.HTTP()))
	_, err := ask.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is Koldun?")},
	})
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusUnauthorized {
		t.Errorf("wrong token: got %v", err)
	}
}

// nothing requires that no object of Koldun is left in a namespace, nor in the
// registry and the queue. Streams and files stay.
func (s *stage) nothing(t *testing.T, namespace string) {
	t.Helper()
	kinds := []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), corev1.SchemeGroupVersion.WithKind("Secret"),
		{Group: "apps", Version: "v1", Kind: "StatefulSet"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "batch", Version: "v1", Kind: "Job"},
	}
	for _, kind := range []string{"Model", "Dllama", "Root", "Worker", "Session", "Ingress"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: kind})
	}
	for _, kind := range []string{"Bucket", "Queue", "HubRevision", "ModelArtifact", "ModelRecord", "TokenSet", "Demand", "Pool"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: "koldun.m.gorizond.io", Version: "v1alpha1", Kind: kind})
	}
	b := s.nats.Of(namespace)
	defer b.Close()
	cluster.Eventually(t, "nothing to be left in "+namespace, func(ctx context.Context) error {
		for _, kind := range kinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)
			if err := s.Client().List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			if len(list.Items) > 0 {
				return fmt.Errorf("got %d objects of kind %s, among them %q", len(list.Items), kind.Kind, list.Items[0].GetName())
			}
		}
		models, err := registry.Models(b).List(ctx, ">")
		if err != nil || len(models) > 0 {
			return fmt.Errorf("got models %v: %w", models, err)
		}
		tokens, err := registry.Tokens(b).List(ctx, ">")
		if err != nil || len(tokens) > 0 {
			return fmt.Errorf("got tokens %v: %w", tokens, err)
		}
		queue, err := b.JetStream().Stream(ctx, names.RequestStream)
		if err == nil && queue.CachedInfo().State.Msgs > 0 {
			err = fmt.Errorf("got %d requests", queue.CachedInfo().State.Msgs)
		}
		return err
	})
	store, err := storeurl.Open(t.Context(), "s3://koldun-models/converted", s.s3)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := store.List(t.Context(), ""); err != nil || len(files) == 0 {
		t.Errorf("got %d files of the model, %v", len(files), err)
	}
}

// ready returns a check that fails unless a Session is ready.
func (s *stage) ready(namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		session := &unstructured.Unstructured{}
		session.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: "Session"})
		if err := s.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, session); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(session.Object, "status", "conditions")
		if !slices.ContainsFunc(conditions, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["type"] == "Ready" && m["status"] == "True"
		}) {
			return fmt.Errorf("its conditions are %v", conditions)
		}
		return nil
	}
}
