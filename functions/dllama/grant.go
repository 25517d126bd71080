package dllama

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
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
// so. One that has not been read yet, or cannot be, says nothing of the grant; one that is
// deleted grants nothing.
func (p *dllamaPlan) withdrawn(res, namespace, name string) bool {
	if namespace == "" || namespace == p.d.Namespace {
		return false
	}
	var m v1.Model
	found, known := p.Require(res, v1.APIVersion, v1.KindModel, namespace, name, &m)
	if !known || !found && p.Known(res) || found && grants(m, p.d.Namespace) {
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

// grants reports whether a Model allows objects of another namespace to serve it.
func grants(m v1.Model, namespace string) bool {
	return slices.Contains(m.Spec.AllowedNamespaces, namespace) || slices.Contains(m.Spec.AllowedNamespaces, "*")
}
