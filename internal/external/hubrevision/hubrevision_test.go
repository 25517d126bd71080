package hubrevision_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/external/hubrevision"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/egress"
)

var files = map[string][]byte{"config.json": []byte(`{"model_type":"llama"}`), "model.safetensors": make([]byte, 1000)}

func client(h *hubtest.Hub) *hubrevision.Client {
	return hubrevision.New(func(_ context.Context, _ modelref.Ref, token string) (hubrevision.Hub, error) {
		return hub.New(hub.Config{Endpoint: h.URL, Token: token, Attempts: 1, MaxWait: time.Second})
	})
}

func TestObserveDescribesTheCommit(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files)
	o, err := client(h).Reached([]int32{80}).Observe(t.Context(), hubrevision.Spec{Source: "hf://" + h.Repo})
	if err != nil {
		t.Fatal(err)
	}
	want := hubrevision.Status{
		Source: "hf://" + h.Repo, Commit: h.Commit(), Files: 2, SizeBytes: 1022, Config: string(files["config.json"]),
		Ports: append([]int32{80}, egress.Mentioned(h.URL)...),
	}
	if !o.Exists || !o.UpToDate || !o.Ready || !reflect.DeepEqual(o.Status, want) {
		t.Errorf("Observe: got %+v, want %+v", o, want)
	}
}

func TestObserveConnectsWorkloads(t *testing.T) {
	const common, own = "hf_common", "hf_own"
	for name, c := range map[string]struct{ hub, claim, want string }{
		"NoToken":         {},
		"TokenOfTheHub":   {hub: common, want: common},
		"TokenOfTheClaim": {claim: own},
		"TokensOfBoth":    {hub: common, claim: own},
	} {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files)
			revisions := hubrevision.New(func(_ context.Context, _ modelref.Ref, token string) (hubrevision.Hub, error) {
				return hub.New(hub.Config{Endpoint: h.URL, Token: cmp.Or(token, c.hub), Attempts: 1, MaxWait: time.Second})
			})
			o, err := revisions.Observe(t.Context(), hubrevision.Spec{Source: "hf://" + h.Repo, Token: c.claim})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(o.Connection[names.EnvHFEndpoint]); got != h.URL {
				t.Errorf("endpoint: got %q, want %q", got, h.URL)
			}
			if got, given := o.Connection[names.EnvHFToken]; string(got) != c.want || given != (c.want != "") {
				t.Errorf("token: got %q, want %q", got, c.want)
			}
		})
	}
}

func TestObserveCountsChosenFiles(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files)
	cases := map[string]struct {
		include, exclude []string
		files            int
		size             int64
	}{
		"Include": {include: []string{"*.json"}, files: 1, size: 22},
		"Exclude": {exclude: []string{"*.json"}, files: 1, size: 1000},
		"Both":    {include: []string{"*"}, exclude: []string{"*.json", "*.safetensors"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := client(h).Observe(t.Context(), hubrevision.Spec{Source: "hf://" + h.Repo, Include: c.include, Exclude: c.exclude})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status.Files != c.files || o.Status.SizeBytes != c.size {
				t.Errorf("got %d files of %d bytes, want %d of %d", o.Status.Files, o.Status.SizeBytes, c.files, c.size)
			}
		})
	}
}

func TestObserveKeepsTheCommit(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files)
	first := h.Commit()
	h.Publish(map[string][]byte{"config.json": []byte("{}")})
	o, err := client(h).Observe(t.Context(), hubrevision.Spec{Source: "hf://" + h.Repo, Commit: first})
	if err != nil {
		t.Fatal(err)
	}
	if o.Status.Commit != first || o.Status.Files != 2 {
		t.Errorf("revision after the branch moved: got %+v, want commit %s", o.Status, first)
	}
}

func TestObserveTellsRefusalFromOutage(t *testing.T) {
	cases := map[string]struct {
		rule    hubtest.Rule
		source  string
		refusal string // part of it; empty means an error instead
	}{
		"NoRepository": {source: "hf://org/missing", refusal: "org/missing"},
		"Gated":        {rule: hubtest.Rule{Do: hubtest.Gated()}, refusal: "token"},
		"Outage":       {rule: hubtest.Rule{Do: hubtest.Status(http.StatusServiceUnavailable, "")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files)
			if c.rule.Do != nil {
				h.Break(c.rule)
			}
			source := c.source
			if source == "" {
				source = "hf://" + h.Repo
			}
			o, err := client(h).Observe(t.Context(), hubrevision.Spec{Source: source})
			if c.refusal == "" {
				if err == nil {
					t.Errorf("Observe: got %+v, want an error", o)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Ready || !strings.Contains(o.Status.Refusal, c.refusal) {
				t.Errorf("Observe: got %+v, want a refusal with %q", o, c.refusal)
			}
		})
	}
}

func TestRepositoryIsNotAllowed(t *testing.T) {
	c := hubrevision.New(func(context.Context, modelref.Ref, string) (hubrevision.Hub, error) {
		return nil, fmt.Errorf("%w: ask", hubrevision.ErrNotAllowed)
	})
	o, err := c.Observe(t.Context(), hubrevision.Spec{Source: "hf://org/repo", Commit: "c"})
	want := hubrevision.Status{Source: "hf://org/repo", Commit: "c", Refusal: "the platform team does not allow the repository: ask", NotAllowed: true}
	if err != nil || o.Ready || o.Connection != nil || !reflect.DeepEqual(o.Status, want) || o.Message != want.Refusal {
		t.Errorf("got %+v, %v, want %+v", o, err, want)
	}
}
