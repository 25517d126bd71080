package dllama

import (
	"cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/internal/names"
)

// served returns the name under which clients ask for the Dllama.
func (p *dllamaPlan) served() string {
	if t := p.d.Spec.Traffic; t != nil {
		return cmp.Or(t.Model, p.modelName)
	}
	return p.modelName
}

// aliased reports whether clients ask for the Dllama by another name than that of
// its Model. It may then be a Model of another namespace whose own name is taken.
func (p *dllamaPlan) aliased() bool { return p.served() != p.modelName }

// weighted reports whether the Dllama is a member of its own. The Dllamas of a
// Session are one member, which the Session adds.
func (p *dllamaPlan) weighted() bool {
	return p.d.Spec.Traffic != nil && p.d.Labels[v1.LabelSession] == ""
}

// group names the member that the Dllama is, or is a part of. The pods always name
// it, so that a claim that gets traffic later restarts nothing. A Session may have
// the name of a Dllama.
func (p *dllamaPlan) group() string {
	if session := p.d.Labels[v1.LabelSession]; session != "" {
		return names.SessionGroup(session)
	}
	if p.scaled() {
		return pool.Group(p.poolName())
	}
	return p.d.Name
}
