package modelorchestra

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// own is a composite of the ModelOrchestra's own. The prefix differs from those of all
// other resources: applications have any name.
func (p *orchestraPlan) own(res string) managed.Own {
	return managed.Own{Res: res, Part: "part-" + res, Name: names.Object(p.o.Name, "modelorchestra", res)}
}

// A state is what the ModelOrchestra acts on of one of its composites.
type state struct {
	serves bool
	// Why it does not serve, if a user has to fix something. The progress stays with the
	// composite: each change of it here is one more event for the ModelOrchestra.
	why     reason.Reason
	message string
}

// stateOf returns the state of a composite. trouble says why it cannot be created or
// changed.
func stateOf(kind, name string, conditions []metav1.Condition, trouble string) state {
	serving := meta.FindStatusCondition(conditions, v1.ConditionServing)
	out := state{serves: serving != nil && serving.Status == metav1.ConditionTrue}
	say := func(why reason.Reason, text string) state {
		out.why, out.message = why, fmt.Sprintf("%s %q is not ready: %s", kind, name, text)
		return out
	}
	switch {
	case out.serves:
	case trouble != "":
		return say(reason.ApplicationsStarting, trouble)
	case serving == nil:
	case reason.Passed(serving.Reason), reason.Final(serving.Reason):
		return say(reason.Reason(serving.Reason), serving.Message)
	}
	return out
}
