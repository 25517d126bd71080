package claim

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/terraform-provider/internal/preflight"
	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// fit says what the cluster would say as TopologyInvalid: pairs of types that
// do not run, numbers of nodes that the engine or the model cannot have. The
// paths are attributes. What is not known yet is not judged: while several
// engines are possible, only what none of them runs is a finding.
func (r *Resource) fit(o tfschema.Object) []preflight.Finding {
	if !r.kind.Fits {
		return nil
	}
	var out []preflight.Finding
	engines := engines(o)
	for _, check := range []func(tfschema.Object, engine.Engine) []preflight.Finding{checkNodes, checkSlots, checkBuffers, checkShape, checkSize, checkRequests} {
		var found []preflight.Finding
		for _, e := range engines {
			if found = check(o, e); len(found) == 0 {
				break
			}
		}
		out = append(out, found...)
	}
	return out
}

// engines lists those that may run the object: the one that it chooses, or all
// while the attributes that choose it are unknown. The schema refuses an engine
// that does not exist.
func engines(o tfschema.Object) []engine.Engine {
	settings := inner(o, "engine")
	switch images := o["root_image"].IsKnown() && o["worker_image"].IsKnown(); {
	case !o["engine"].IsKnown() || !isKnown(settings["type"]):
		return catalog.Engines()
	case !images && settings.Text("type") == "":
		// No image selects an engine with a server.
		return slices.DeleteFunc(catalog.Engines(), func(e engine.Engine) bool { return e.Configured != nil })
	}
	n, _ := nodes(o)
	chosen, err := catalog.Choose(catalog.Claim{Engine: settings.Text("type"), Nodes: n, Images: []string{o.Text("root_image"), o.Text("worker_image")}})
	if err == nil && chosen.Configured != nil {
		chosen, err = configured(chosen, settings)
	}
	if err != nil {
		return nil
	}
	return []engine.Engine{chosen}
}

// configured returns the engine of a server, as far as its nodes and memory go. A
// profile that is not known yet may run on any number of nodes.
func configured(e engine.Engine, settings tfschema.Object) (engine.Engine, error) {
	server := inner(settings, "server")
	if !isKnown(settings["server"]) || !isKnown(server["profile"]) || !isKnown(server["url"]) {
		e.MaxNodes = 0
		return e, nil
	}
	return e.Configured(engine.Server{Profile: server.Text("profile"), URL: server.Text("url")})
}

func checkNodes(o tfschema.Object, e engine.Engine) []preflight.Finding {
	n, field := nodes(o)
	err := e.CheckNodes(n)
	if err == nil {
		return nil
	}
	one := 1
	if field == attrReplicaPower {
		one = 0
	}
	more := "engine.type " + catalog.Spreading()
	if e.API != nil {
		more = "a server of profile " + e.API.Spreading + " in the pods"
	}
	return []preflight.Finding{{Path: field, Message: fmt.Sprintf("%v: use %d, or %s", err, one, more)}}
}

func checkSlots(o tfschema.Object, e engine.Engine) []preflight.Finding {
	if _, err := e.WithSlots(slots(o)); err != nil {
		return []preflight.Finding{{Path: "engine", Message: fmt.Sprintf("slots: %v", err)}}
	}
	return nil
}

func slots(o tfschema.Object) int { return number(inner(o, "engine")["slots"]) }

func checkBuffers(o tfschema.Object, e engine.Engine) []preflight.Finding {
	weights := weights(o)
	asked := topology.FloatType(inner(o, "engine").Text("buffer_float_type"))
	if e.Memory == nil || weights == "" || asked == "" {
		return nil
	}
	runs, err := e.Memory.Buffers(weights)
	if err != nil || runs == asked {
		return nil
	}
	return []preflight.Finding{{Path: "engine", Message: fmt.Sprintf("weights of type %s run only with buffer_float_type %s, not %s", weights, runs, asked)}}
}

// checkShape judges by the model's config.json, if it is given.
func checkShape(o tfschema.Object, e engine.Engine) []preflight.Finding {
	config := o.Text(attrConfig)
	if e.Memory == nil || config == "" {
		return nil
	}
	shape, err := topology.FromConfig([]byte(config), cmp.Or(weights(o), topology.Q40))
	if err != nil {
		return []preflight.Finding{{Path: attrConfig, Message: err.Error()}}
	}
	n, field := nodes(o)
	if n == 0 {
		return nil
	}
	ask := topology.Request{Nodes: n, SeqLen: contextOf(o, shape), Slots: cmp.Or(slots(o), e.Slots)}
	if e.Memory.Limit {
		ask.RootMemory, ask.WorkerMemory = memoryLimit(o, "root_resources"), memoryLimit(o, "worker_resources")
	}
	if plan, err := e.Memory.Plan(shape, ask); err != nil {
		switch {
		case fault.KindOf(err) == fault.Quota && plan.RootFits(ask):
			field = "worker_resources"
		case fault.KindOf(err) == fault.Quota:
			field = "root_resources"
		}
		return []preflight.Finding{{Path: field, Message: err.Error()}}
	}
	return nil
}

// checkSize judges by the size of files that are in a volume already, until their header
// is known.
func checkSize(o tfschema.Object, e engine.Engine) []preflight.Finding {
	model := inner(o, "model")
	n, _ := nodes(o)
	limit := memoryLimit(o, "root_resources")
	if e.Memory == nil || !e.Memory.Limit || o.Text(attrConfig) != "" || n == 0 || limit == 0 || !boolean(model["pre_converted"]) {
		return nil
	}
	if err := topology.CheckSize(int64(number(model["pre_converted_size_bytes"])), n, limit); err != nil {
		return []preflight.Finding{{Path: "root_resources", Message: err.Error()}}
	}
	return nil
}

// checkRequests finds requests above their limits, which no pod may have.
func checkRequests(o tfschema.Object, _ engine.Engine) []preflight.Finding {
	var out []preflight.Finding
	for _, field := range []string{"root_resources", "worker_resources"} {
		requests, limits := inner(inner(o, field), "requests"), inner(inner(o, field), "limits")
		for _, name := range slices.Sorted(maps.Keys(requests)) {
			request, limit := quantity(requests, name), quantity(limits, name)
			if request != nil && limit != nil && request.Cmp(*limit) > 0 {
				out = append(out, preflight.Finding{Path: field, Message: fmt.Sprintf("the request of %s, %s, is more than its limit, %s", name, request, limit)})
			}
		}
	}
	return out
}

// quantity returns a quantity; nil if there is none, or not yet.
func quantity(list tfschema.Object, name string) *resource.Quantity {
	v, ok := list[name]
	if !ok || !isKnown(v) {
		return nil
	}
	q, err := resource.ParseQuantity(list.Text(name))
	if err != nil {
		return nil // the schema says what is wrong with it
	}
	return &q
}

// contextOf returns the longest context that the object asks for, in tokens. While the
// launch options of its Model may name one, it is the shortest: what does not fit at
// that never fits.
func contextOf(o tfschema.Object, shape topology.Shape) int {
	if n := number(inner(o, "engine")["max_seq_len"]); n > 0 {
		return n
	}
	model := inner(o, "model")
	options, ok := model["launch_options"]
	if len(model) == 0 || ok && (!options.IsKnown() || !options.IsNull()) {
		return min(shape.SeqLen, topology.MinSeqLen)
	}
	return min(shape.SeqLen, topology.DefaultSeqLen)
}

// memoryLimit returns the limit of memory in resources, in bytes; 0 if there is none, or
// not yet.
func memoryLimit(o tfschema.Object, attribute string) int64 {
	if limit := quantity(inner(inner(o, attribute), "limits"), "memory"); limit != nil {
		return limit.Value()
	}
	return 0
}

const attrReplicaPower = "replica_power"

// nodes is the number of nodes and the attribute that says it; 0 if none does,
// or not yet.
func nodes(o tfschema.Object) (int, string) {
	if n := number(o["nodes"]); n > 0 {
		return n, "nodes"
	}
	if v, ok := o[attrReplicaPower]; ok && v.IsKnown() && !v.IsNull() {
		if p := number(v); p >= 0 && p <= 10 {
			return 1 << p, attrReplicaPower
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

// inner returns the attributes of a nested object; none if it is null or unknown.
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

func boolean(v tftypes.Value) bool {
	var b bool
	return v.Type() != nil && v.IsKnown() && !v.IsNull() && v.As(&b) == nil && b
}

func isKnown(v tftypes.Value) bool { return v.Type() == nil || v.IsKnown() }
