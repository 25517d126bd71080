package dllama

import (
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// own is the Model or Ingress of the Dllama's own name.
func (p *dllamaPlan) own(res string) managed.Own {
	return managed.Own{Res: res, Part: partOf(res), Name: names.Object(p.d.Name, "dllama", res)}
}

// partOf is the name of the composed Part of a Model or Ingress.
func partOf(res string) string { return res + "-part" }

// ownModel returns the Dllama's own Model.
func (p *dllamaPlan) ownModel() (m v1.Model, found bool, trouble string) {
	found, trouble = p.own(resModel).Observe(p.Call, &m)
	return m, found, trouble
}

// ownIngress returns the Dllama's own Ingress.
func (p *dllamaPlan) ownIngress() (i v1.Ingress, trouble string) {
	_, trouble = p.own(resIngress).Observe(p.Call, &i)
	return i, trouble
}

// unchanged says what keeps the Dllama's own Model or Ingress as it was when the claim
// asks for another one, as an addition to a message; empty if nothing does.
func (p *dllamaPlan) unchanged() string {
	out := ""
	if _, _, trouble := p.ownModel(); p.d.Spec.Model != nil && trouble != "" {
		out += fmt.Sprintf(". Model %q stays as it was: %s", p.d.Name, trouble)
	}
	if _, trouble := p.ownIngress(); p.d.Spec.Expose != nil && trouble != "" {
		out += fmt.Sprintf(". Ingress %q stays as it was: %s", p.d.Name, trouble)
	}
	return out
}
