package dllama

import (
	"fmt"
	"strings"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/reason"
)

// grant ends what runs with a Model of another namespace whose owner does not allow it, or
// allows it no more: the pods, and the credentials for the files, which would be renewed for
// ever. The gateway stays. It comes before all steps that keep what runs by an earlier spec,
// and looks at the Model that is served, too: no mistake in a claim prolongs a grant.
func (p *dllamaPlan) grant() (compose.Next, error) {
	m := p.model()
	withdrawn := p.refers() && p.withdrawn(resModel, m.Namespace, m.Name)
	if a := p.Status.Artifact; a != nil && !withdrawn && a.Model != p.modelPath() {
		namespace, name, _ := strings.Cut(a.Model, "/")
		withdrawn = p.withdrawn(resServedModel, namespace, name)
	}
	if !withdrawn {
		return compose.Continue, nil
	}
	if p.refers() {
		p.status.Model = p.servedPath()
	}
	p.status.Nodes = p.nodes(nil)
	if p.Refused(p.Namespace, p.uses()...) != "" {
		return compose.Stop, nil
	}
	return compose.Stop, p.expose()
}

// withdrawn reports whether a Model of another namespace may not be served here, and says
// so.
func (p *dllamaPlan) withdrawn(res, namespace, name string) bool {
	if namespace == "" || namespace == p.Namespace || grant.Of(p.Call, res, namespace, name, p.Namespace) != grant.Denied {
		return false
	}
	p.failGrant(namespace, name)
	return true
}

// failGrant says that there is no Model to serve. Who may not use a Model does not learn
// whether it exists.
func (p *dllamaPlan) failGrant(namespace, name string) {
	but := ""
	if namespace != p.Namespace {
		but = fmt.Sprintf(", or its spec.allowedNamespaces lacks namespace %q", p.Namespace)
	}
	p.Fail(reason.ModelNotFound, "spec.modelRef: Model %q does not exist in namespace %q%s", name, namespace, but)
}
