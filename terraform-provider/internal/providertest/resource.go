package providertest

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A Resource is one resource in a state.
type Resource struct {
	provider *Provider
	Type     string
	State    tftypes.Value // null: it does not exist
	Tainted  bool
	Warnings string // of the last apply

	schema   *tfprotov6.Schema
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// Resource returns a resource that does not exist yet.
func (p *Provider) Resource(name string) *Resource {
	p.t.Helper()
	s, ok := p.schema.ResourceSchemas[name]
	if !ok {
		p.t.Fatalf("there is no resource %q", name)
	}
	return &Resource{provider: p, Type: name, schema: s, State: tftypes.NewValue(s.ValueType(), nil)}
}

// Validate validates a configuration, and returns the errors.
func (x *Resource) Validate(config map[string]any) string {
	x.provider.t.Helper()
	v := Build(x.provider.t, x.schema.ValueType(), config)
	resp, err := x.provider.server.ValidateResourceConfig(x.provider.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: x.Type, Config: x.provider.value(v),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	if err != nil {
		x.provider.t.Fatal(err)
	}
	return Errors(resp.Diagnostics)
}

// A Plan is a planned change of a resource.
type Plan struct {
	State   tftypes.Value
	Replace []string // attributes that force replacement
	Errors  string
	Empty   bool // the plan equals the state
	private []byte
}

// Plan plans a configuration; nil plans to destroy the resource.
func (x *Resource) Plan(config map[string]any) Plan {
	x.provider.t.Helper()
	typ := x.schema.ValueType()
	cfg := tftypes.NewValue(typ, nil)
	proposed := cfg
	if config != nil {
		cfg = Build(x.provider.t, typ, config)
		proposed = propose(x.schema.Block.Attributes, x.State, cfg)
	}
	resp, err := x.provider.server.PlanResourceChange(x.provider.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: x.Type, PriorState: x.provider.value(x.State), ProposedNewState: x.provider.value(proposed), Config: x.provider.value(cfg),
		PriorPrivate: x.private, PriorIdentity: x.identity,
	})
	if err != nil {
		x.provider.t.Fatal(err)
	}
	p := Plan{Errors: Errors(resp.Diagnostics), private: resp.PlannedPrivate}
	if p.Errors != "" {
		return p
	}
	for _, r := range resp.RequiresReplace {
		p.Replace = append(p.Replace, r.String())
	}
	if p.State, err = resp.PlannedState.Unmarshal(typ); err != nil {
		x.provider.t.Fatal(err)
	}
	p.Empty = p.State.Equal(x.State)
	return p
}

// Apply validates, plans and applies a configuration, and replaces the resource if
// the plan requires it. It returns the errors of the first step that has any. It
// fails the test if the result differs from the plan.
func (x *Resource) Apply(config map[string]any) string {
	x.provider.t.Helper()
	if e := x.Validate(config); e != "" {
		return e
	}
	p := x.Plan(config)
	if p.Errors != "" {
		return p.Errors
	}
	if len(p.Replace) > 0 && !x.State.IsNull() {
		if e := x.Destroy(); e != "" {
			return e
		}
		if p = x.Plan(config); p.Errors != "" {
			return p.Errors
		}
	}
	e := x.apply(p, config)
	if e != "" {
		return e
	}
	for _, path := range inconsistent(p.State, x.State) {
		x.provider.t.Errorf("%s: inconsistent result after apply: %s", x.Type, path)
	}
	return ""
}

// ApplyPlan applies a plan with a configuration in which more may be known.
func (x *Resource) ApplyPlan(p Plan, config map[string]any) string {
	x.provider.t.Helper()
	return x.apply(p, config)
}

// CheckStable fails the test if a refresh changes the state or the plan is not
// empty.
func (x *Resource) CheckStable(config map[string]any) {
	x.provider.t.Helper()
	before := x.State
	x.Refresh()
	if !x.State.Equal(before) {
		x.provider.t.Errorf("%s: refresh changes the state:\n%v\n%v", x.Type, JSON(before), JSON(x.State))
	}
	x.CheckNoChanges(config)
}

// CheckNoChanges fails the test if the plan is not empty.
func (x *Resource) CheckNoChanges(config map[string]any) {
	x.provider.t.Helper()
	p := x.Plan(config)
	if p.Errors != "" {
		x.provider.t.Errorf("%s: %s", x.Type, p.Errors)
		return
	}
	if !p.Empty {
		x.provider.t.Errorf("%s: the plan is not empty:\nstate %v\nplan  %v", x.Type, JSON(x.State), JSON(p.State))
	}
}

func (x *Resource) apply(p Plan, config map[string]any) string {
	x.provider.t.Helper()
	typ := x.schema.ValueType()
	cfg := tftypes.NewValue(typ, nil)
	if config != nil {
		cfg = Build(x.provider.t, typ, config)
	}
	resp, err := x.provider.server.ApplyResourceChange(x.provider.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: x.Type, PriorState: x.provider.value(x.State), PlannedState: x.provider.value(p.State), Config: x.provider.value(cfg),
		PlannedPrivate: p.private, PlannedIdentity: x.identity,
	})
	if err != nil {
		x.provider.t.Fatal(err)
	}
	x.Warnings = Warnings(resp.Diagnostics)
	errs := Errors(resp.Diagnostics)
	created := x.State.IsNull()
	if x.State, err = resp.NewState.Unmarshal(typ); err != nil {
		x.provider.t.Fatal(err)
	}
	x.private, x.identity = resp.Private, resp.NewIdentity
	// Terraform taints a new resource if its creation fails.
	x.Tainted = errs != "" && created && !x.State.IsNull()
	return errs
}

// Destroy removes the resource, and returns the errors.
func (x *Resource) Destroy() string {
	x.provider.t.Helper()
	p := x.Plan(nil)
	if p.Errors != "" {
		return p.Errors
	}
	return x.apply(p, nil)
}

// Refresh reads the resource. It fails the test on errors.
func (x *Resource) Refresh() {
	x.provider.t.Helper()
	if e := x.Read(); e != "" {
		x.provider.t.Fatalf("cannot read %s: %s", x.Type, e)
	}
}

// Read reads the resource, and returns the errors.
func (x *Resource) Read() string {
	x.provider.t.Helper()
	resp, err := x.provider.server.ReadResource(x.provider.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: x.Type, CurrentState: x.provider.value(x.State), Private: x.private, CurrentIdentity: x.identity,
	})
	if err != nil {
		x.provider.t.Fatal(err)
	}
	if e := Errors(resp.Diagnostics); e != "" {
		return e
	}
	if x.State, err = resp.NewState.Unmarshal(x.schema.ValueType()); err != nil {
		x.provider.t.Fatal(err)
	}
	x.private, x.identity = resp.Private, resp.NewIdentity
	return ""
}

// Import imports the resource with an id, and reads it.
func (p *Provider) Import(name, id string) *Resource {
	p.t.Helper()
	return p.imported(name, &tfprotov6.ImportResourceStateRequest{TypeName: name, ID: id})
}

// ImportIdentity imports the resource with an identity, and reads it.
func (p *Provider) ImportIdentity(name string, identity map[string]any) *Resource {
	p.t.Helper()
	v := p.value(Build(p.t, p.identities[name].ValueType(), identity))
	return p.imported(name, &tfprotov6.ImportResourceStateRequest{TypeName: name, Identity: &tfprotov6.ResourceIdentityData{IdentityData: v}})
}

func (p *Provider) imported(name string, req *tfprotov6.ImportResourceStateRequest) *Resource {
	p.t.Helper()
	x := p.Resource(name)
	resp, err := p.server.ImportResourceState(p.Context(), req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.none("import "+name, resp.Diagnostics)
	got := resp.ImportedResources[0]
	if x.State, err = got.State.Unmarshal(x.schema.ValueType()); err != nil {
		p.t.Fatal(err)
	}
	x.private, x.identity = got.Private, got.Identity
	x.Refresh()
	return x
}

// Identity returns the identity as encoding/json decodes it.
func (x *Resource) Identity() any {
	x.provider.t.Helper()
	if x.identity == nil || x.identity.IdentityData == nil {
		return nil
	}
	v, err := x.identity.IdentityData.Unmarshal(x.provider.identities[x.Type].ValueType())
	if err != nil {
		x.provider.t.Fatal(err)
	}
	return JSON(v)
}

// Attribute returns an attribute of the state as encoding/json decodes it.
func (x *Resource) Attribute(name string) any {
	m, _ := JSON(x.State).(map[string]any)
	return m[name]
}
