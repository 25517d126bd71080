package model

import (
	"slices"
	"strings"
)

// keepServing keeps what the registry lists, and the files that it was made of, while the
// spec asks for something else that is not there: a typo in an edit, or a download that has
// just begun, must not end what serves. What makes new files is not kept.
func (p *plan) keepServing() {
	if !p.Exists(resRecord) || p.Desired(resRecord) {
		return
	}
	var makes []string
	for name := range p.Resources("") {
		kind, _, _ := strings.Cut(name, "-")
		if slices.Contains([]string{resRevision, resFetch, resConvert, resInspect}, kind) {
			makes = append(makes, name)
		}
	}
	p.KeepRest(makes...)
}
