package workloadstatus

import (
	"slices"
	"time"
)

// Each change of the status is two updates for the composite.
const (
	// step is the least time between reports while pods reach quarters of their work,
	// or begin it.
	step = 10 * time.Second
	// quiet is how long other numbers may lag behind.
	quiet = 30 * time.Second
)

// lasting returns the answers of pods that were at the same stage before: work that
// ends within seconds is not reported.
func lasting(before, now []PodProgress) []PodProgress {
	var out []PodProgress
	for _, p := range now {
		if was := find(before, p); was != nil {
			out = append(out, p)
		}
	}
	return out
}

// find returns the entry of the same pod at the same stage; nil if there is none.
func find(in []PodProgress, of PodProgress) *PodProgress {
	i := slices.IndexFunc(in, func(p PodProgress) bool { return p.Pod == of.Pod && p.Stage == of.Stage })
	if i < 0 {
		return nil
	}
	return &in[i]
}

// A pacer holds progress back, so that it is reported a few times only.
type pacer struct {
	reported []PodProgress
	at       time.Time // of the last report
}

// settle takes the progress of now. It reports whether the progress to report has
// changed, and after which time it has to be called again; 0 is after a change.
func (p *pacer) settle(now time.Time, found []PodProgress) (changed bool, again time.Duration) {
	if slices.Equal(found, p.reported) {
		return false, 0
	}
	wait := quiet
	if p.advances(found) {
		wait = step
	}
	if left := wait - now.Sub(p.at); left > 0 {
		return false, left
	}
	p.reported, p.at = found, now
	return true, 0
}

// advances reports whether a pod has begun a stage, or entered another quarter of it.
func (p *pacer) advances(found []PodProgress) bool {
	const quarter = 25
	return slices.ContainsFunc(found, func(now PodProgress) bool {
		was := find(p.reported, now)
		return was == nil || was.Percent/quarter != now.Percent/quarter
	})
}
