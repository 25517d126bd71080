package claim

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/terraform-provider/internal/wait"
)

// An observation is the state of an object in the cluster.
type observation struct {
	wait.State
	status map[string]any
}

type condition struct {
	Type, Status, Reason, Message string
	generation                    int64
}

// observe returns whether an object is ready, and why not. It is ready if Ready is
// True and Synced is not False, both for the given generation or a later one. For
// a condition without observedGeneration, status.observedGeneration counts. The
// reason is that of the condition Serving. While a composite waits, it observes its
// generation late to save writes, so what it waits for counts for any generation.
func observe(obj *unstructured.Unstructured, generation int64) observation {
	status, _, _ := unstructured.NestedMap(obj.Object, "status")
	overall, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
	all := conditions(status, overall)
	out := observation{status: status}
	serving := all["Serving"]
	current := func(c condition) bool { return c.generation == 0 || c.generation >= generation }
	switch {
	case all["Synced"].Status == "False" && current(all["Synced"]):
		out.Reason, out.Message = all["Synced"].Reason, all["Synced"].Message
	case serving.Type != "" && !current(serving) && (serving.Status != "False" || reason.Final(serving.Reason)):
		out.Reason, out.Message = "Pending", fmt.Sprintf("the cluster has not observed generation %d yet", generation)
		return out
	case serving.Type != "":
		out.Reason, out.Message = serving.Reason, serving.Message
		out.Final = serving.Status == "False" && reason.Final(serving.Reason)
	case all["Ready"].Type != "":
		out.Reason, out.Message = all["Ready"].Reason, all["Ready"].Message
	}
	ready := all["Ready"]
	out.Ready = ready.Status == "True" && current(ready) && (all["Synced"].Status != "False" || !current(all["Synced"]))
	if out.Ready {
		out.Final = false
	}
	return out
}

func conditions(status map[string]any, overall int64) map[string]condition {
	out := map[string]condition{}
	list, _, _ := unstructured.NestedSlice(status, "conditions")
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		c := condition{generation: overall}
		c.Type, _ = m["type"].(string)
		c.Status, _ = m["status"].(string)
		c.Reason, _ = m["reason"].(string)
		c.Message, _ = m["message"].(string)
		if g, ok := m["observedGeneration"].(int64); ok {
			c.generation = g
		}
		out[c.Type] = c
	}
	return out
}
