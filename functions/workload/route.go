package workload

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// ParentRefs returns the Gateways that an HTTPRoute attaches to, with every default
// written out, so that the object in the cluster equals the desired one.
func ParentRefs(gateways []v1.GatewayReference) []any {
	var refs []any
	for _, g := range gateways {
		ref := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": g.Name}
		if g.Namespace != "" {
			ref["namespace"] = g.Namespace
		}
		if g.SectionName != "" {
			ref["sectionName"] = g.SectionName
		}
		refs = append(refs, ref)
	}
	return refs
}

// PathMatch returns a match of an HTTPRoute by path. kind is PathPrefix or Exact.
func PathMatch(kind, path string) any {
	return map[string]any{"path": map[string]any{"type": kind, "value": path}}
}

// RouteRule returns a rule of an HTTPRoute that leads to a Service, with every default
// written out. It has no timeouts, because answers take long.
func RouteRule(service string, port int32, matches ...any) any {
	return map[string]any{
		"matches":     matches,
		"backendRefs": []any{map[string]any{"group": "", "kind": "Service", "name": service, "port": int64(port), "weight": int64(1)}},
		"timeouts":    map[string]any{"request": "0s", "backendRequest": "0s"},
	}
}

// AnyMap returns the entries of m as values of an unstructured object.
func AnyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
