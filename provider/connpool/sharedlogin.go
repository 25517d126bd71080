package connpool

import (
	"fmt"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
)

// permitShared checks that the namespace gets no login that it shares with others, unless the
// platform says that they do: the Secret with the login is in the namespace, where claims and
// their servers are. Errors: Denied (IsNotAllowed).
func (r resolver) permitShared(c Config, on catalog.System) error {
	if r.namespace == "" || c.SharedLogin || !c.severalNamespaces() || !c.oneLogin(on) {
		return nil
	}
	return fault.As(fault.Denied, notAllowedError{config: c, namespace: r.namespace, shared: on})
}

// severalNamespaces reports whether the Config may serve more than one namespace. What is
// selected by labels may be one today and two tomorrow.
func (c Config) severalNamespaces() bool {
	if c.Kind != v1alpha1.KindClusterProviderConfig {
		return false
	}
	a := c.Allowed
	return a == nil || a.Selector != nil || len(a.Names) > 1 || len(a.Names) == 1 && a.Names[0] == anyNamespace
}

// oneLogin reports whether all namespaces get the same login for a system that the Config
// describes.
func (c Config) oneLogin(on catalog.System) bool {
	switch on {
	case catalog.NATS:
		return c.Spec.NATS.Operator == nil
	case catalog.S3:
		return c.Spec.S3.STS == nil
	case catalog.Hub, catalog.Kubernetes: // a token of a hub may read only
	}
	return false
}

func (n notAllowedError) sharedLogin() string {
	own := map[catalog.System]string{catalog.NATS: "spec.nats.operator", catalog.S3: "spec.s3.sts"}[n.shared]
	return fmt.Sprintf("namespace %q may not use %s: it serves several namespaces with one login for %s. A platform engineer has to set %s, "+
		"name one namespace in spec.allowedNamespaces.names and no selector, or set spec.sharedLogin: true if all of these namespaces trust each other",
		n.namespace, n.config, n.shared, own)
}
