package claim

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gorizond/koldun/internal/topology"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// fit says what the cluster would say as TopologyInvalid: pairs of types that
// do not run, numbers of nodes that the engine or the model cannot have. The
// paths are attributes. What is not known yet is not judged.
func (r *Resource) fit(o tfschema.Object) []preflight.Finding {
	if !r.kind.Fits {
		return nil
	}
	var out []preflight.Finding
	nodes, field := nodes(o)
	engine := inner(o, "engine")
	known := o["root_image"].IsKnown() && o["worker_image"].IsKnown() && o["engine"].IsKnown() && isKnown(engine["type"])
	embedded := engine.Text("type") == "embedded" || engine.Text("type") == "" && o.Text("root_image") == "" && o.Text("worker_image") == ""
	if known && embedded && nodes > 1 {
		out = append(out, preflight.Finding{Path: field, Message: fmt.Sprintf(
			"the embedded engine runs on 1 node, not on %d: use 1, or name an image of distributed-llama in root_image", nodes)})
	}
	weights := weights(o)
	sync := topology.FloatType(engine.Text("buffer_float_type"))
	if weights != "" && sync != "" {
		if runs, err := topology.SyncFor(weights); err == nil && runs != sync {
			out = append(out, preflight.Finding{Path: "engine", Message: fmt.Sprintf(
				"weights of type %s run only with buffer_float_type %s, not %s", weights, runs, sync)})
		}
	}
	return append(out, shaped(o, weights, nodes, field, number(engine["max_seq_len"]))...)
}

// shaped judges by the model's config.json, if it is given.
func shaped(o tfschema.Object, weights topology.FloatType, nodes int, field string, context int) []preflight.Finding {
	config := o.Text(attrConfig)
	if config == "" {
		return nil
	}
	if weights == "" {
		weights = topology.Q40
	}
	shape, err := topology.FromConfig([]byte(config), weights)
	if err != nil {
		return []preflight.Finding{{Path: attrConfig, Message: err.Error()}}
	}
	if nodes == 0 {
		return nil
	}
	if _, err := shape.Preflight(topology.Request{Nodes: nodes, SeqLen: context}); err != nil {
		return []preflight.Finding{{Path: field, Message: err.Error()}}
	}
	return nil
}

// nodes is the number of nodes and the attribute that says it; 0 if none does,
// or not yet.
func nodes(o tfschema.Object) (int, string) {
	if n := number(o["nodes"]); n > 0 {
		return n, "nodes"
	}
	if v, ok := o["replica_power"]; ok && v.IsKnown() && !v.IsNull() {
		if p := number(v); p >= 0 && p <= 10 {
			return 1 << p, "replica_power"
		}
	}
	return 0, "nodes"
}

// weights is the type of the weights that an inline model is converted to.
func weights(o tfschema.Object) topology.FloatType {
	conversion := inner(inner(o, "model"), "conversion")
	for _, a := range []string{"convert_weights", "weights_float_type"} {
		if s := conversion.Text(a); s != "" {
			return topology.FloatType(s)
		}
	}
	return ""
}

// inner are the attributes of a nested object; none if it is null or unknown.
func inner(o tfschema.Object, attribute string) tfschema.Object {
	v, ok := o[attribute]
	if !ok || !v.IsKnown() {
		return tfschema.Object{}
	}
	out, err := tfschema.Unpack(v)
	if err != nil {
		return tfschema.Object{}
	}
	return out
}

func number(v tftypes.Value) int {
	var n big.Float
	if v.Type() == nil || !v.IsKnown() || v.IsNull() || v.As(&n) != nil {
		return 0
	}
	i, _ := n.Int64()
	return int(i)
}

func isKnown(v tftypes.Value) bool { return v.Type() == nil || v.IsKnown() }
