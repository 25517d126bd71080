package reason

// Transient returns the reasons for which a composite of a Part does not serve that pass
// by themselves. Its own condition gives them, and those of the composites above do not.
func Transient(kind string) []string {
	var all []Reason
	switch kind {
	case "Model":
		all = []Reason{ConnectionPending, ResolvingRevision, Downloading, Converting, Inspecting, Verifying, FillingVolume, Registering}
	case "Ingress":
		all = []Reason{ConnectionPending, GatewayStarting}
	case "Session":
		all = []Reason{ConnectionPending, DllamasStarting, GatewayStarting}
	case "Dllama":
		all = []Reason{ConnectionPending, ModelPending, WorkersStarting, RootStarting, DllamasStarting, GatewayStarting}
	}
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = string(r)
	}
	return out
}
