// Package session composes a Session: a pool of Dllamas that serve one model.
package session

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Compose answers one call for a Session.
func Compose(c *compose.Call) error {
	var s v1.Session
	if err := c.Composite(&s); err != nil {
		return err
	}
	ref := s.Spec.ModelRef
	if ref.Namespace == "" {
		ref.Namespace = s.Namespace
	}
	size := int32(1)
	if n := s.Spec.Scaling.MinDllamas; n != nil {
		size = *n
	}
	status := v1.SessionStatus{
		Status:  v1.Status{ObservedGeneration: s.Generation},
		Model:   ref.Namespace + "/" + ref.Name,
		Dllamas: size,
	}
	blocking := ""
	for n := range size {
		res := fmt.Sprintf("dllama-%d", n)
		var seen v1.Dllama
		ready := false
		message := "it has not been composed yet"
		if c.Observed(res, &seen) {
			for _, cond := range seen.Status.Conditions {
				if cond.Type == v1.ConditionServing {
					ready, message = cond.Status == metav1.ConditionTrue, cond.Reason+": "+cond.Message
				}
			}
		}
		want := member(s, ref, n)
		if err := c.Desire(res, want, compose.Readiness(ready)); err != nil {
			return err
		}
		if ready {
			status.ReadyDllamas++
			continue
		}
		if blocking == "" {
			blocking = fmt.Sprintf("Dllama %q is not ready: %s", want.Name, message)
		}
	}
	switch {
	case size == 0:
		c.True(v1.ConditionServing, reason.Idle, "The pool is empty: spec.scaling.minDllamas is 0")
	case blocking != "":
		c.False(v1.ConditionServing, reason.DllamasStarting, "%s", blocking)
	default:
		c.True(v1.ConditionServing, reason.Available, "%d of %d Dllamas serve %s", status.ReadyDllamas, status.Dllamas, status.Model)
	}
	return c.SetStatus(&status)
}

func member(s v1.Session, ref v1.ModelReference, n int32) *v1.Dllama {
	return &v1.Dllama{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindDllama},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: names.Object(s.Name, fmt.Sprint(n))},
		Spec: v1.DllamaSpec{
			ModelRef: &ref,
			Runtime:  s.Spec.Runtime,
		},
	}
}
