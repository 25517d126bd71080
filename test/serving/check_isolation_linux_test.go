package serving_test

import (
	"bytes"
	"regexp"
)

// requestID matches the request ids of gateways.
var requestID = regexp.MustCompile(`req_[0-9A-Z]{26}`)

// checkIsolation searches the answers of each tenant for data of others: words of
// prompts and answers, which all contain the tenant's mark, and request ids.
func (h history) checkIsolation(r *report) {
	owner := map[string]string{} // prompt id by request id
	for _, e := range h.entries {
		if e.id == "" {
			continue
		}
		if other, taken := owner[e.id]; taken {
			r.violated(tenantsIsolated, "%s and %s have the same id %s", other, e.prompt.ID, e.id)
		}
		owner[e.id] = e.prompt.ID
	}
	tenants := map[string]tenant{} // by mark
	for _, e := range h.entries {
		if e.tenant.mark != "" {
			tenants[e.tenant.mark] = e.tenant
		}
	}
	for _, e := range h.entries {
		if len(e.received) == 0 {
			continue
		}
		r.examine(tenantsIsolated)
		for mark, t := range tenants {
			if mark != e.tenant.mark && bytes.Contains(e.received, []byte(mark)) {
				r.violatedBy(e, tenantsIsolated, "it was sent something of tenant %s", t.name)
			}
		}
		for _, id := range requestID.FindAll(e.received, -1) {
			if of := owner[string(id)]; of != "" && of != e.prompt.ID {
				r.violatedBy(e, tenantsIsolated, "it was sent the id of %s", of)
			}
		}
	}
	for _, p := range h.probes {
		if p.status == 0 {
			continue
		}
		r.examine(tenantsIsolated)
		if bytes.Contains(p.received, []byte(p.secret)) {
			r.violated(tenantsIsolated, "%s got something of %s by %s", p.by.name, p.of.name, p.what)
		}
		if p.mustRefuse && p.status < 400 {
			r.violated(tenantsIsolated, "%s got %d for %s, which is %s's", p.by.name, p.status, p.what, p.of.name)
		}
	}
}

// maxTurnsBehind is how many more turns than a tenant any other may have had when
// the tenant is served.
const maxTurnsBehind = 2

// checkFairness checks that one engine has served the tenants of a backlog in
// turns.
func (h history) checkFairness(c backlog, r *report) {
	var order []string // names of tenants
	for _, g := range h.generations {
		if t, ok := c.prompts[g.ID]; ok {
			order = append(order, t.name)
		}
	}
	if len(order) != len(c.prompts) {
		r.violated(noStarvation, "%d requests waited together, and %d were served", len(c.prompts), len(order))
		return
	}
	served := map[string]int{}
	for _, name := range order {
		served[name]++
		r.examine(noStarvation)
		for other, n := range served {
			if k := served[name]; other != name && n > k+maxTurnsBehind {
				r.violated(noStarvation, "request %d of tenant %s was served after %d of tenant %s", k, name, n, other)
			}
		}
	}
}
