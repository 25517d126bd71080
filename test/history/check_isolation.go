package history

import (
	"bytes"
	"regexp"
)

// requestID matches the request ids of gateways.
var requestID = regexp.MustCompile(`req_[0-9A-Z]{26}`)

// checkIsolation searches the answers of each tenant for data of others: words of
// prompts and answers, which all contain the tenant's mark, and request ids.
func (h History) checkIsolation(r *report) {
	owner := map[string]string{} // prompt id by request id
	for _, e := range h.Entries {
		if e.ID == "" {
			continue
		}
		if other, taken := owner[e.ID]; taken {
			r.violated(TenantsIsolated, "%s and %s have the same id %s", other, e.Prompt.ID, e.ID)
		}
		owner[e.ID] = e.Prompt.ID
	}
	tenants := map[string]Tenant{} // by mark
	for _, e := range h.Entries {
		if e.Tenant.Mark != "" {
			tenants[e.Tenant.Mark] = e.Tenant
		}
	}
	for _, e := range h.Entries {
		if len(e.Received) == 0 {
			continue
		}
		r.examine(TenantsIsolated)
		for mark, t := range tenants {
			if mark != e.Tenant.Mark && bytes.Contains(e.Received, []byte(mark)) {
				r.violatedBy(e, TenantsIsolated, "it was sent something of tenant %s", t.Name)
			}
		}
		for _, id := range requestID.FindAll(e.Received, -1) {
			if of := owner[string(id)]; of != "" && of != e.Prompt.ID {
				r.violatedBy(e, TenantsIsolated, "it was sent the id of %s", of)
			}
		}
	}
	for _, p := range h.Probes {
		if p.Status == 0 {
			continue
		}
		r.examine(TenantsIsolated)
		if bytes.Contains(p.Received, []byte(p.Secret)) {
			r.violated(TenantsIsolated, "%s got something of %s by %s", p.By.Name, p.Of.Name, p.What)
		}
		if p.MustRefuse && p.Status < 400 {
			r.violated(TenantsIsolated, "%s got %d for %s, which is %s's", p.By.Name, p.Status, p.What, p.Of.Name)
		}
	}
}

// maxTurnsBehind is how many more turns than a tenant any other may have had when
// the tenant is served.
const maxTurnsBehind = 2

// checkFairness checks that one engine has served the tenants of a backlog in
// turns.
func (h History) checkFairness(c Backlog, r *report) {
	var order []string // names of tenants
	for _, g := range h.Generations {
		if t, ok := c.Prompts[g.ID]; ok {
			order = append(order, t.Name)
		}
	}
	if len(order) != len(c.Prompts) {
		r.violated(NoStarvation, "%d requests waited together, and %d were served", len(c.Prompts), len(order))
		return
	}
	served := map[string]int{}
	for _, name := range order {
		served[name]++
		r.examine(NoStarvation)
		for other, n := range served {
			if k := served[name]; other != name && n > k+maxTurnsBehind {
				r.violated(NoStarvation, "request %d of tenant %s was served after %d of tenant %s", k, name, n, other)
			}
		}
	}
}
