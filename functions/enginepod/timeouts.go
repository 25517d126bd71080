package enginepod

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/engine"
)

// timeouts returns the arguments of the sidecar.
func timeouts(t *v1.AnswerTimeouts) []string {
	if t == nil {
		return nil
	}
	var args []string
	for _, limit := range []struct {
		flag  string
		value *metav1.Duration
	}{{"first", t.FirstToken}, {"between", t.BetweenTokens}, {"grace", t.Grace}} {
		if limit.value != nil {
			args = append(args, "--"+limit.flag+"="+limit.value.Duration.String())
		}
	}
	return args
}

// extraGrace is how much more time running answers get than by default.
func extraGrace(t *v1.AnswerTimeouts) time.Duration {
	if t == nil || t.Grace == nil {
		return 0
	}
	return max(0, t.Grace.Duration-engine.AnswerGrace)
}
