// Package part reports what the owner of a composite needs to know of it: whether it
// serves, what keeps it from serving unless that is transient, what the cluster lacks for
// one that serves, and what it provides. Progress stays with the composite.
package part

import (
	"context"
	"slices"

	"github.com/gorizond/koldun/internal/external"
)

// A Spec describes a composite.
type Spec struct {
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Template external.Template `json:"template"`
	// TransientReasons pass by themselves.
	TransientReasons []string `json:"transientReasons,omitempty"`
	// Found is the status of the composite; nil if it does not exist.
	Found map[string]any `json:"-"`
}

// A Status is what is reported of a composite. It is zero until that exists.
type Status struct {
	Serving bool           `json:"serving,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
	Outputs map[string]any `json:"outputs,omitempty"`
}

// Outputs returns the reported fields of the status of composites.
func Outputs() []string {
	return []string{"artifact", "shape", "outputPVCName", "backendServiceName", "url", "natsAccount", "natsPorts"}
}

// Composites returns how a Part creates its composite.
func Composites() external.Dependents[Spec, Status] {
	return external.Dependents[Spec, Status]{
		Kind:    func(s Spec) string { return s.Kind },
		Enabled: func(Spec) bool { return true },
		Objects: func(s Spec, _ Status) []external.Object {
			return []external.Object{s.Template.Object(s.Kind, s.Name, nil)}
		},
		Note: note,
	}
}

// note records the status of the composite.
func note(s *Spec, there external.Existing) {
	for _, o := range there.Own {
		meta, _ := o["metadata"].(map[string]any)
		if meta["name"] == s.Name {
			s.Found, _ = o["status"].(map[string]any)
		}
	}
}

// A Client reports on composites. It asks no server.
type Client struct{}

var _ external.Client[Spec, Status] = Client{}

// Observe reports on the composite of the spec.
func (Client) Observe(_ context.Context, s Spec) (external.Observation[Status], error) {
	o := external.Observation[Status]{Exists: true, UpToDate: true, Status: statusOf(s)}
	if o.Ready = o.Status.Serving; !o.Ready {
		o.Message = o.Status.Message
	}
	return o, nil
}

// Create has nothing to do: the composite is a dependent.
func (Client) Create(context.Context, Spec) error { return nil }

// Update has nothing to do.
func (Client) Update(context.Context, Spec) error { return nil }

// Delete has nothing to do.
func (Client) Delete(context.Context, Spec) error { return nil }

func statusOf(s Spec) Status {
	var out Status
	for _, name := range Outputs() {
		if v, ok := s.Found[name]; ok {
			if out.Outputs == nil {
				out.Outputs = map[string]any{}
			}
			out.Outputs[name] = v
		}
	}
	serving := condition(s.Found, "Serving")
	out.Serving = serving["status"] == "True"
	if out.Serving {
		if around := condition(s.Found, "Prerequisites"); around["status"] == "False" {
			out.Reason, out.Message = around["reason"], around["message"]
		}
	} else if !slices.Contains(s.TransientReasons, serving["reason"]) {
		out.Reason, out.Message = serving["reason"], serving["message"]
	}
	return out
}

// condition returns the fields of a condition in a status.
func condition(status map[string]any, name string) map[string]string {
	conditions, _ := status["conditions"].([]any)
	out := map[string]string{}
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == name {
			for _, field := range []string{"status", "reason", "message"} {
				out[field], _ = c[field].(string)
			}
		}
	}
	return out
}
