package pool

import (
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/pool/autoscaler"
	"github.com/gorizond/koldun/internal/names"
)

// Dllamas returns how a Pool creates a Dllama for each member.
func Dllamas() external.Dependents[Spec, Status] {
	return external.Dependents[Spec, Status]{
		Kind:    func(Spec) string { return "Dllama" },
		Enabled: func(s Spec) bool { return s.Dllama != nil },
		Objects: objects,
		Note:    setDllamaStates,
	}
}

func objects(s Spec, o Status) []external.Object {
	if s.Dllama == nil {
		return nil
	}
	var out []external.Object
	for _, m := range o.Members {
		if m.Phase != autoscaler.Drained {
			out = append(out, s.Dllama.Object("Dllama", s.dllama(m.Name), nil))
		}
	}
	return out
}

// dllama returns the name of a member's Dllama.
func (s Spec) dllama(member string) string {
	_, name := s.owner()
	return names.Member(name, member)
}

// A DllamaState is the reported state of a Dllama.
type DllamaState struct {
	Ready        bool
	ReadyWorkers int
	Reason       string // why it does not serve
	Message      string
}

// maxMessage is the maximum length of a message in a Pool, in characters.
const maxMessage = 1024

// annotationTemplate on a Dllama is a hash of the template that it was made from.
const annotationTemplate = "koldun.gorizond.io/template"

// template returns the hash of the template; empty if it has none.
func (s Spec) template() string {
	if s.Dllama == nil {
		return ""
	}
	return s.Dllama.Annotations[annotationTemplate]
}

// setDllamaStates records the states of the existing Dllamas. One whose status is of an
// earlier template or spec is not ready.
func setDllamaStates(s *Spec, there external.Existing) {
	s.DllamaStates = map[string]DllamaState{}
	for _, o := range there.Own {
		meta, _ := o["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		s.DllamaStates[name] = DllamaState{}
		if !outdated(o, s.template()) {
			s.DllamaStates[name] = dllamaStateOf(o)
		}
	}
}

// outdated reports whether the status of a Dllama is not yet of this template. A Dllama
// that an earlier version made has no hash, and a claim no observed generation: their
// status counts.
func outdated(o map[string]any, template string) bool {
	meta, _ := o["metadata"].(map[string]any)
	status, _ := o["status"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	made, _ := annotations[annotationTemplate].(string)
	observed := whole(status["observedGeneration"])
	return made != "" && made != template || observed > 0 && observed < whole(meta["generation"])
}

// whole returns a number as JSON or Kubernetes decodes it; 0 if it is none.
func whole(v any) int {
	switch n := v.(type) {
	case float64:
		return int(n)
	case int64:
		return int(n)
	}
	return 0
}

func dllamaStateOf(o map[string]any) DllamaState {
	var out DllamaState
	status, _ := o["status"].(map[string]any)
	out.ReadyWorkers = whole(status["readyWorkers"])
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if c["type"] != "Serving" {
			continue
		}
		if out.Ready = c["status"] == "True"; out.Ready {
			break
		}
		out.Reason, _ = c["reason"].(string)
		out.Message, _ = c["message"].(string)
		out.Message = cut(out.Message)
	}
	return out
}

// cut truncates a text at a character boundary.
func cut(s string) string {
	if runes := []rune(s); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return s
}
