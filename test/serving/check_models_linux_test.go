package serving_test

import "maps"

// check holds what stood at the place of a model against what readiness means.
func (m modelState) check(r *report) {
	if !m.ready {
		if m.last {
			r.violated(wholeModels, "%s: there is no manifest though the job has ended well", m.when)
		}
		return
	}
	r.examine(wholeModels)
	if m.wrong != nil {
		r.violated(wholeModels, "%s: %v", m.when, m.wrong)
	}
	if !maps.Equal(m.files, m.wanted) {
		r.violated(wholeModels, "%s: the files are %v, want %v", m.when, m.files, m.wanted)
	}
}
