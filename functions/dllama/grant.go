package dllama

import (
	"cmp"
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
	if ref := p.d.Spec.ModelRef; ref != nil && p.d.Spec.Model == nil {
		p.modelNamespace, p.modelName = cmp.Or(ref.Namespace, p.d.Namespace), ref.Name
	}
	withdrawn := p.withdrawn(resModel, p.modelNamespace, p.modelName)
	if a := p.d.Status.Artifact; a != nil && !withdrawn && a.Model != p.modelNamespace+"/"+p.modelName {
		namespace, name, _ := strings.Cut(a.Model, "/")
		withdrawn = p.withdrawn(resServedModel, namespace, name)
	}
	if !withdrawn {
		return compose.Continue, nil
	}
	p.describeServed()
	if p.Refused(p.d.Namespace, p.uses()...) != "" {
		return compose.Stop, nil
	}
	_, err := p.expose()
	return compose.Stop, err
}

// withdrawn reports whether a Model of another namespace may not be served here, and says
// so.
func (p *dllamaPlan) withdrawn(res, namespace, name string) bool {
	if namespace == "" || namespace == p.d.Namespace || grant.Of(p.Call, res, namespace, name, p.d.Namespace) != grant.Denied {
		return false
	}
	p.failGrant(namespace, name)
	return true
}

// failGrant says that there is no Model to serve. Who may not use a Model does not learn
// whether it exists.
func (p *dllamaPlan) failGrant(namespace, name string) {
	but := ""
	if namespace != p.d.Namespace {
		but = fmt.Sprintf(", or its spec.allowedNamespaces lacks namespace %q", p.d.Namespace)
	}
	p.Fail(reason.ModelNotFound, "spec.modelRef: Model %q does not exist in namespace %q%s", name, namespace, but)
}
