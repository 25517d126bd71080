package serving_test

import (
	"bytes"
	"regexp"
)

// requestID is how gateways name requests.
var requestID = regexp.MustCompile(`req_[0-9A-Z]{26}`)

// checkTenants looks for anything of a tenant in what others were sent: words
// of its prompts and answers, which all bear its mark, and ids of its requests.
func (h history) checkTenants(r *report) {
	owner := map[string]string{} // of each request, by the gateway's id: the wish
	for _, e := range h.entries {
		if e.id == "" {
			continue
		}
		if other, taken := owner[e.id]; taken {
			r.violated(nothingRead, "%s and %s have the same id %s", other, e.wish.ID, e.id)
		}
		owner[e.id] = e.wish.ID
	}
	tenants := map[string]tenant{} // by mark
	for _, e := range h.entries {
		if e.tenant.mark != "" {
			tenants[e.tenant.mark] = e.tenant
		}
	}
	for _, e := range h.entries {
		if len(e.heard) == 0 {
			continue
		}
		r.examine(nothingRead)
		for mark, t := range tenants {
			if mark != e.tenant.mark && bytes.Contains(e.heard, []byte(mark)) {
				r.violatedBy(e, nothingRead, "it was sent something of tenant %s", t.name)
			}
		}
		for _, id := range requestID.FindAll(e.heard, -1) {
			if of := owner[string(id)]; of != "" && of != e.wish.ID {
				r.violatedBy(e, nothingRead, "it was sent the id of %s", of)
			}
		}
	}
	for _, p := range h.probes {
		if p.status == 0 {
			continue
		}
		r.examine(nothingRead)
		if bytes.Contains(p.heard, []byte(p.secret)) {
			r.violated(nothingRead, "%s got something of %s by %s", p.by.name, p.of.name, p.what)
		}
		if p.theirs && p.status < 400 {
			r.violated(nothingRead, "%s got %d for %s, which is %s's", p.by.name, p.status, p.what, p.of.name)
		}
	}
}

// lateness is how many turns others may have before a tenant's, beyond one
// for each of its own.
const lateness = 2

// checkContest holds the order in which one engine has served those who waited
// together against a fair one, in which tenants take turns.
func (h history) checkContest(c contest, r *report) {
	var order []string // names of tenants
	for _, g := range h.generations {
		if t, ok := c.wishes[g.ID]; ok {
			order = append(order, t.name)
		}
	}
	if len(order) != len(c.wishes) {
		r.violated(nobodyStarves, "%d requests waited together, and %d were served", len(c.wishes), len(order))
		return
	}
	served := map[string]int{}
	for _, name := range order {
		served[name]++
		r.examine(nobodyStarves)
		for other, n := range served {
			if k := served[name]; other != name && n > k+lateness {
				r.violated(nobodyStarves, "request %d of tenant %s was served after %d of tenant %s", k, name, n, other)
			}
		}
	}
}
