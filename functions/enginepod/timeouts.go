package enginepod

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/engine"
)

// sidecarGrace is the time that the sidecar gives running answers by default.
const sidecarGrace = 25 * time.Second

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

// graceSeconds is how long the pod of a root may take to end: as much longer than the
// default as its answers get more time than by default.
func (r Root) graceSeconds() int64 {
	grace := engine.RootGrace
	if t := r.Timeouts; t != nil && t.Grace != nil {
		grace += max(0, t.Grace.Duration-sidecarGrace)
	}
	return int64(grace.Seconds())
}
