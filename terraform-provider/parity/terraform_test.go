package parity

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// terraform is a resource that the Terraform provider reconciles, driven over
// its protocol.
type terraform struct {
	t        *testing.T
	kind     *crd.Kind
	resource *providertest.Resource
	more     map[string]any // attributes
}

func newTerraform(t *testing.T, s *servers, c scenario) manager {
	t.Helper()
	k, err := crd.Load(crd.Managed, c.plural)
	if err != nil {
		t.Fatal(err)
	}
	p := provider.New("test", func(string) string { return "" })
	t.Cleanup(p.Close)
	config := map[string]any{
		"nats":       map[string]any{"url": s.nats.URL(), "user": natstest.User, "password": natstest.Password},
		"s3":         map[string]any{"endpoint": s.s3.Endpoint, "access_key": s3test.AccessKey, "secret_key": s3test.SecretKey},
		"kubernetes": map[string]any{"config_path": s.kubernetes.Kubeconfig()},
	}
	if s.operator != nil {
		keys := s.keys()
		config["nats_operator"] = map[string]any{
			"url": s.operator.URL(), "signing_key": keys["operator.nk"], "system_creds": keys["system.creds"], "accounts_key": keys["accounts.key"], "servers": 1,
		}
		s.to("default", s.namespace)
	}
	r := providertest.New(t, p, config)
	return &terraform{t: t, kind: k, resource: r.Resource("koldun_" + c.resource), more: c.terraform}
}

// config returns a spec as the attributes of Terraform.
func (f *terraform) config(spec map[string]any) map[string]any {
	f.t.Helper()
	out, _ := attributes(f.t, f.kind.Spec, spec).(map[string]any)
	for name, v := range f.more {
		out[name] = v
	}
	return out
}

func attributes(t *testing.T, f *crd.Field, v any) any {
	t.Helper()
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range x {
			if f.Type == crd.Map {
				out[name] = attributes(t, f.Elem, e)
				continue
			}
			c := f.Child(name)
			if c == nil {
				t.Fatalf("%s has no field %q", f.Name, name)
			}
			out[c.Attribute] = attributes(t, c, e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range x {
			out = append(out, attributes(t, f.Elem, e))
		}
		return out
	}
	return v
}

func (f *terraform) apply(spec map[string]any) {
	f.t.Helper()
	config := f.config(spec)
	if e := f.resource.Apply(config); e != "" {
		f.t.Fatal(e)
	}
	if f.resource.Attribute("ready") != true {
		f.t.Fatalf("resource is not ready: %v %s", providertest.JSON(f.resource.State), f.resource.Warnings)
	}
}

// reobserve refreshes and applies a plan that must be empty.
func (f *terraform) reobserve(spec map[string]any) {
	f.t.Helper()
	f.resource.CheckStable(f.config(spec))
	f.apply(spec)
}

func (f *terraform) refused(spec map[string]any, why string) {
	f.t.Helper()
	if e := f.resource.Apply(f.config(spec)); !strings.Contains(e, why) {
		f.t.Fatalf("apply: got error %q, want %q", e, why)
	}
}

func (f *terraform) delete() {
	f.t.Helper()
	if f.resource.State.IsNull() {
		return // it was never created
	}
	if e := f.resource.Destroy(); e != "" {
		f.t.Fatal(e)
	}
}
