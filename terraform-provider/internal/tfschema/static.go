package tfschema

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// static is a constant default of any type.
type static struct{ value attr.Value }

func (static) Description(context.Context) string         { return "" }
func (static) MarkdownDescription(context.Context) string { return "" }

func (s static) DefaultString(_ context.Context, _ defaults.StringRequest, r *defaults.StringResponse) {
	r.PlanValue, _ = s.value.(types.String)
}

func (s static) DefaultBool(_ context.Context, _ defaults.BoolRequest, r *defaults.BoolResponse) {
	r.PlanValue, _ = s.value.(types.Bool)
}

func (s static) DefaultInt64(_ context.Context, _ defaults.Int64Request, r *defaults.Int64Response) {
	r.PlanValue, _ = s.value.(types.Int64)
}

func (s static) DefaultFloat64(_ context.Context, _ defaults.Float64Request, r *defaults.Float64Response) {
	r.PlanValue, _ = s.value.(types.Float64)
}

func (s static) DefaultList(_ context.Context, _ defaults.ListRequest, r *defaults.ListResponse) {
	r.PlanValue, _ = s.value.(types.List)
}

func (s static) DefaultSet(_ context.Context, _ defaults.SetRequest, r *defaults.SetResponse) {
	r.PlanValue, _ = s.value.(types.Set)
}

func (s static) DefaultMap(_ context.Context, _ defaults.MapRequest, r *defaults.MapResponse) {
	r.PlanValue, _ = s.value.(types.Map)
}
