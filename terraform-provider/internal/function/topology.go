package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/internal/model/topology"
)

// topologyFunction returns the memory and traffic of a model on a number of nodes.
type topologyFunction struct{}

func (topologyFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "topology"
}

func (topologyFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "What a model needs on a number of nodes",
		Description: "Says at plan time what a model needs in memory and traffic on a number of nodes, or fails with the reason why it cannot run there " +
			"and what would do. Memory is in bytes per node, as distributed-llama allocates it.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "config", Description: "The model's `config.json`, as text."},
			function.StringParameter{Name: "weights", Description: "Type of the weights: `q40` or `f32`."},
			function.Int64Parameter{Name: "nodes", Description: "Number of nodes, the root included."},
			function.Int64Parameter{Name: "seq_len", Description: "Longest context in tokens. `0` is the model's own."},
			function.Int64Parameter{Name: "node_memory", Description: "Memory that each node has, in bytes. `0` is not checked."},
		},
		Return: function.ObjectReturn{AttributeTypes: planTypes()},
	}
}

func memoryTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"pipes": types.Int64Type, "buffers": types.Int64Type, "kv_cache": types.Int64Type, "weights": types.Int64Type, "total": types.Int64Type,
	}
}

func trafficTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"root_per_token": types.Int64Type, "worker_per_token": types.Int64Type, "total_per_token": types.Int64Type, "shipping": types.Int64Type,
	}
}

func planTypes() map[string]attr.Type {
	return map[string]attr.Type{
		"nodes":          types.Int64Type,
		"seq_len":        types.Int64Type,
		"buffer_type":    types.StringType,
		"possible_nodes": types.ListType{ElemType: types.Int64Type},
		"model_bytes":    types.Int64Type,
		"root":           types.ObjectType{AttrTypes: memoryTypes()},
		"worker":         types.ObjectType{AttrTypes: memoryTypes()},
		"traffic":        types.ObjectType{AttrTypes: trafficTypes()},
	}
}

func (topologyFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var config, weights string
	var nodes, seqLen, memory int64
	if resp.Error = req.Arguments.Get(ctx, &config, &weights, &nodes, &seqLen, &memory); resp.Error != nil {
		return
	}
	float, err := topology.ParseFloatType(weights)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())
		return
	}
	shape, err := topology.FromConfig([]byte(config), float)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	r := topology.Request{Nodes: int(nodes), SeqLen: int(seqLen), RootMemory: memory, WorkerMemory: memory}
	plan, err := shape.Preflight(r)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(2, err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, types.ObjectValueMust(planTypes(), result(shape, plan)))
}

func result(s topology.Shape, p topology.Plan) map[string]attr.Value {
	var possible []attr.Value
	for _, n := range s.Nodes(p.Sync) {
		possible = append(possible, types.Int64Value(int64(n)))
	}
	worker := types.ObjectNull(memoryTypes())
	if p.Nodes > 1 {
		worker = memoryValue(p.Worker())
	}
	return map[string]attr.Value{
		"nodes":          types.Int64Value(int64(p.Nodes)),
		"seq_len":        types.Int64Value(int64(p.SeqLen)),
		"buffer_type":    types.StringValue(string(p.Sync)),
		"possible_nodes": types.ListValueMust(types.Int64Type, possible),
		"model_bytes":    types.Int64Value(s.WeightBytes()),
		"root":           memoryValue(p.Root()),
		"worker":         worker,
		"traffic": types.ObjectValueMust(trafficTypes(), map[string]attr.Value{
			"root_per_token": types.Int64Value(p.Traffic.RootPerToken), "worker_per_token": types.Int64Value(p.Traffic.WorkerPerToken),
			"total_per_token": types.Int64Value(p.Traffic.TotalPerToken), "shipping": types.Int64Value(p.Traffic.Shipping),
		}),
	}
}

func memoryValue(m topology.Memory) types.Object {
	return types.ObjectValueMust(memoryTypes(), map[string]attr.Value{
		"pipes": types.Int64Value(m.Pipes), "buffers": types.Int64Value(m.Buffers), "kv_cache": types.Int64Value(m.KVCache),
		"weights": types.Int64Value(m.Weights), "total": types.Int64Value(m.Total()),
	})
}
