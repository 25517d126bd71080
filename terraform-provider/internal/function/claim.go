package function

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// claimFunction returns the manifest of an object.
type claimFunction struct{ check *preflight.Checker }

func (claimFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "claim"
}

func (claimFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "The manifest of a claim",
		Description: "Returns the manifest of one of Koldun's kinds, for GitOps or `kubectl apply`: give it to `yamlencode`. " +
			"The spec has the field names of YAML. The function validates it with the API server's own code, and needs no cluster.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "kind", Description: "Kind, such as `Dllama` or `Bucket`."},
			function.DynamicParameter{Name: "metadata", Description: "Name, and namespace, labels and annotations where wanted."},
			function.DynamicParameter{Name: "spec", Description: "Spec, with the field names of YAML."},
		},
		Return: function.DynamicReturn{},
	}
}

func (f claimFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var kind string
	var metadata, spec types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &kind, &metadata, &spec); resp.Error != nil {
		return
	}
	version, err := f.check.Version(kind)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	obj := map[string]any{"apiVersion": version, "kind": kind}
	for i, part := range []struct {
		name  string
		value types.Dynamic
	}{{"metadata", metadata}, {"spec", spec}} {
		raw, err := part.value.ToTerraformValue(ctx)
		if err == nil {
			obj[part.name], err = tfschema.Plain(raw)
		}
		if err != nil {
			resp.Error = function.NewArgumentFuncError(int64(i+1), err.Error())
			return
		}
	}
	findings, err := f.check.Object(ctx, obj)
	if err != nil {
		resp.Error = function.NewFuncError(err.Error())
		return
	}
	var text []string
	for _, x := range findings {
		text = append(text, x.Path+": "+x.Message)
	}
	if len(text) > 0 {
		resp.Error = function.NewArgumentFuncError(2, strings.Join(text, "\n"))
		return
	}
	resp.Error = resp.Result.Set(ctx, types.DynamicValue(manifest(version, kind, metadata, spec)))
}

// manifest returns the object as given. The cluster sets the defaults.
func manifest(version, kind string, metadata, spec types.Dynamic) types.Object {
	values := map[string]attr.Value{
		"apiVersion": types.StringValue(version), "kind": types.StringValue(kind),
		"metadata": metadata.UnderlyingValue(), "spec": spec.UnderlyingValue(),
	}
	typ := map[string]attr.Type{}
	for k, v := range values {
		typ[k] = v.Type(context.Background())
	}
	return types.ObjectValueMust(typ, values)
}
