package protocol_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
)

// A listing is a provider with one resource, whose list has objects with a required attribute.
type listing struct{}

func (listing) Metadata(_ context.Context, _ provider.MetadataRequest, r *provider.MetadataResponse) {
	r.TypeName = "test"
}
func (listing) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (listing) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (listing) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (listing) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return list{} }}
}

type list struct{}

func (list) Metadata(_ context.Context, _ resource.MetadataRequest, r *resource.MetadataResponse) {
	r.TypeName = "test_list"
}

func (list) Schema(_ context.Context, _ resource.SchemaRequest, r *resource.SchemaResponse) {
	name := map[string]schema.Attribute{"name": schema.StringAttribute{Required: true}}
	r.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"models": schema.ListNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: name}},
		"by":     schema.MapNestedAttribute{Optional: true, NestedObject: schema.NestedAttributeObject{Attributes: name}},
	}}
}
func (list) Create(context.Context, resource.CreateRequest, *resource.CreateResponse) {}
func (list) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (list) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}
func (list) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// An attribute is missing in an object that is known, and not in one that is unknown.
func TestUnknownObjects(t *testing.T) {
	x := providertest.New(t, listing{}, map[string]any{}).Resource("test_list")
	named, nameless := map[string]any{"name": "a"}, map[string]any{}
	for name, c := range map[string]struct {
		config map[string]any
		wants  string // path of what is missing; "" for nothing
	}{
		"Known":        {map[string]any{"models": []any{named}}, ""},
		"Unknown":      {map[string]any{"models": []any{named, providertest.Unknown{}}}, ""},
		"UnknownName":  {map[string]any{"models": []any{map[string]any{"name": providertest.Unknown{}}}}, ""},
		"InMap":        {map[string]any{"by": map[string]any{"k": providertest.Unknown{}}}, ""},
		"Missing":      {map[string]any{"models": []any{providertest.Unknown{}, nameless}}, "models[1].name"},
		"MissingInMap": {map[string]any{"by": map[string]any{"k": nameless}}, `by["k"].name`},
	} {
		t.Run(name, func(t *testing.T) {
			got := x.Validate(c.config)
			if (got == "") != (c.wants == "") || !strings.Contains(got, c.wants) || strings.Contains(got, "models[0]") {
				t.Errorf("got %q, want %q to be missing", got, c.wants)
			}
		})
	}
}
