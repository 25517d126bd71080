// Package pool composes the Pool of a Session or of an exposed Dllama: the
// managed resource that keeps a Dllama for each member.
//
// Composites do not compose the members themselves: each change of each one would
// be an event for the composite, and Crossplane limits these.
package pool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Resource is the name of the composed resource.
const Resource = "pool"

// A Pool is that of one composite.
type Pool struct {
	Via       managed.Via
	Namespace string // of the composite
	Name      string // begins the names of the Pool and of its members: that of the Session, or OfDllama
	Key       string // of the session in the queue
	Size      Size
	Scaling   v1.Scaling
	Model     v1.ModelReference
	Runtime   v1.Runtime
	Traffic   *v1.Traffic
}

// A State is what is known of a Pool.
type State struct {
	// Numbers are nil until the Pool has been reconciled.
	Numbers *v1alpha1.PoolObservation
	// Members that are not drained, by number.
	Members []v1alpha1.PoolMember
	// Trouble of the first member that is not ready and needs the user; empty if none does.
	Trouble string
	// Why is the reason of that member.
	Why reason.Reason
	// Pending says why the Pool itself is not ready; empty if it is.
	Pending string
}

// Compose composes the Pool, and returns its state.
func (p Pool) Compose(c *compose.Call) (State, error) {
	template, err := p.template()
	if err != nil {
		return State{}, err
	}
	want := &v1alpha1.Pool{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindPool},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: names.Object(p.Name, "pool")},
		Spec: v1alpha1.PoolSpec{
			ManagedResourceSpec: managed.Spec(p.Via),
			ForProvider: v1alpha1.PoolParameters{
				Session:              p.Key,
				MinMembers:           p.Size.Min,
				MaxMembers:           p.Size.Max,
				ScaleUpBacklog:       max(p.Scaling.ScaleUpBacklog, defaultScaleUpBacklog),
				ScaleDownIdleSeconds: positiveOr(p.Scaling.ScaleDownIdleSeconds, defaultScaleDownIdleSeconds),
				Owner:                p.Namespace + "/" + p.Name,
				Dllama:               template,
			},
		},
	}
	var seen v1alpha1.Pool
	out := State{}
	if c.Observed(Resource, &seen) && len(seen.Status.Conditions) > 0 {
		out.Numbers = &seen.Status.AtProvider
	}
	// The states of members of another template are not those of what is desired.
	was := seen.Status.AtProvider.Template
	outdated := was != "" && was != template.Annotations[v1.AnnotationTemplate]
	serves := false
	for _, m := range seen.Status.AtProvider.Members {
		if m.Phase != v1alpha1.PoolDrained && len(out.Members) < 2*MaxMembers {
			if outdated {
				m = v1alpha1.PoolMember{Name: m.Name, Phase: m.Phase}
			}
			out.Members = append(out.Members, m)
			serves = serves || m.Ready
		}
	}
	slices.SortFunc(out.Members, func(a, b v1alpha1.PoolMember) int { return byNumber(a.Name, b.Name) })
	for _, m := range out.Members {
		if trouble := p.troubleOf(m); out.Trouble == "" && trouble != "" {
			out.Trouble, out.Why = trouble, reason.Reason(m.Reason)
		}
	}
	ready, trouble := managed.Ready(c, Resource)
	if trouble != "" || !bool(ready) && len(out.Members) == 0 {
		out.Pending = pending(trouble)
	}
	// One that serves makes the pool ready: others come and go.
	return out, c.Desire(Resource, want, ready && compose.Readiness(serves || len(out.Members) == 0))
}

// troubleOf says what a user has to fix of a member; empty if nothing.
func (p Pool) troubleOf(m v1alpha1.PoolMember) string {
	if m.Ready || m.Phase == v1alpha1.PoolDraining || !reason.Final(m.Reason) && !reason.Passed(m.Reason) {
		return ""
	}
	return fmt.Sprintf("Dllama %q is not ready: %s: %s", names.Member(p.Name, m.Name), m.Reason, m.Message)
}

// OfDllama begins the names of the Pool of an exposed Dllama, and of its members. It
// differs from the Dllama's own name, because a Session may have that. What is composed
// already keeps its names: runners and drain orders go by them.
func OfDllama(c *compose.Call, name string) string {
	var seen v1alpha1.Pool
	if c.Observed(Resource, &seen) {
		if _, before, ok := strings.Cut(seen.Spec.ForProvider.Owner, "/"); ok {
			return before
		}
	}
	return names.Object(name, names.Hash(8, "dllama", name))
}

// template of the members.
func (p Pool) template() (*v1alpha1.ObjectTemplate, error) {
	d := v1.DllamaSpec{ModelRef: &p.Model, Runtime: p.Runtime}
	if t := p.Traffic; t != nil && t.Model != "" {
		d.Traffic = &v1.Traffic{Model: t.Model} // the composite adds the member of the name
	}
	if p.Via != nil {
		d.NATS = &v1.NATSConnection{ProviderConfigRef: p.Via}
	}
	out, err := compose.Template(map[string]string{v1.LabelSession: Label(p.Name)}, map[string]string{v1.AnnotationSessionKey: p.Key}, d)
	if err != nil {
		return nil, err
	}
	out.Annotations[v1.AnnotationTemplate] = names.Hash(16, p.Key, string(out.Spec.Raw))
	return out, nil
}

// Label is the value of the label session on the members of a composite's pool,
// and on their pods.
func Label(name string) string { return names.Join(names.MaxLabel, name) }

// Group is the member of a model's name that all members of the pool are together.
func Group(name string) string { return names.SessionGroup(Label(name)) }

func pending(trouble string) string {
	if trouble == "" {
		return "The pool of Dllamas is being prepared"
	}
	return fmt.Sprintf("Composed resource %q is not ready: %s", Resource, trouble)
}

// byNumber orders 2 before 10, and names that are no numbers last.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil || x == y {
		return strings.Compare(a, b)
	}
	return x - y
}

func positiveOr(n, otherwise int32) int32 {
	if n <= 0 {
		return otherwise
	}
	return n
}
