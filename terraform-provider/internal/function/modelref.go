package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/internal/model/modelref"
)

// parseModelRef parses the source of a model.
type parseModelRef struct{}

func (parseModelRef) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "parse_model_ref"
}

func refTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"scheme": types.StringType, "endpoint": types.StringType, "repo": types.StringType, "revision": types.StringType,
		"bucket": types.StringType, "path": types.StringType, "pinned": types.BoolType, "canonical": types.StringType,
	}
}

func (parseModelRef) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Read the source of a model",
		Description: "Reads `https://huggingface.co/ORG/REPO`, `hf://ORG/REPO@REVISION`, `s3://BUCKET/PREFIX` and `file:///FOLDER`, as `source_url` of a model does. " +
			"`pinned` says that the revision is a commit, which never moves; `canonical` is the shortest form of the same source.",
		Parameters: []function.Parameter{function.StringParameter{Name: "ref", Description: "The source."}},
		Return:     function.ObjectReturn{AttributeTypes: refTypes()},
	}
}

func (parseModelRef) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var s string
	if resp.Error = req.Arguments.Get(ctx, &s); resp.Error != nil {
		return
	}
	ref, err := modelref.Parse(s)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, types.ObjectValueMust(refTypes(), map[string]attr.Value{
		"scheme": types.StringValue(string(ref.Scheme)), "endpoint": text(ref.Endpoint), "repo": text(ref.Repo), "revision": text(ref.Revision),
		"bucket": text(ref.Bucket), "path": text(ref.Path), "pinned": types.BoolValue(ref.Pinned()), "canonical": types.StringValue(ref.String()),
	}))
}

// text returns s, or null if it is empty.
func text(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}
