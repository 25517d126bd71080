package dllama

import (
	"fmt"
	"strings"

	"github.com/gorizond/koldun/functions/grant"
	"github.com/gorizond/koldun/functions/reason"
)

// modelWithdrawn reports whether the Dllama has, or is served from, a Model of another
// namespace whose owner does not allow it, or allows it no more, and says so. It comes before
// all that keeps what runs by an earlier spec, and looks at the Model that is served, too: no
// mistake in a claim prolongs a grant.
func (d *dllama) modelWithdrawn() bool {
	if m := d.model(); d.refers() && d.withdrawn(resModel, m.Namespace, m.Name) {
		return true
	}
	a := d.Status.Artifact
	if a == nil || a.Model == d.modelPath() {
		return false
	}
	namespace, name, _ := strings.Cut(a.Model, "/")
	return d.withdrawn(resServedModel, namespace, name)
}

// endServing ends what runs with a Model that is withdrawn: the pods, and the credentials for
// the files, which would be renewed for ever. The gateway stays.
func (d *dllama) endServing() error {
	if d.refers() {
		d.status.Model = d.servedPath()
	}
	d.status.Nodes = d.nodes(nil)
	if d.Refused(d.Namespace, d.uses()...) != "" {
		return nil
	}
	return d.expose()
}

// withdrawn reports whether a Model of another namespace may not be served here, and says
// so.
func (d *dllama) withdrawn(res, namespace, name string) bool {
	if namespace == "" || namespace == d.Namespace || grant.Of(d.Call, res, namespace, name, d.Namespace) != grant.Denied {
		return false
	}
	d.failGrant(namespace, name)
	return true
}

// failGrant says that there is no Model to serve. Who may not use a Model does not learn
// whether it exists.
func (d *dllama) failGrant(namespace, name string) {
	but := ""
	if namespace != d.Namespace {
		but = fmt.Sprintf(", or its spec.allowedNamespaces lacks namespace %q", d.Namespace)
	}
	d.Fail(reason.ModelNotFound, "spec.modelRef: Model %q does not exist in namespace %q%s", name, namespace, but)
}
