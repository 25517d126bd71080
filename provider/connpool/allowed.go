package connpool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/requeue"
)

// KindNamespace is the kind of namespaces, in keys.
const KindNamespace = "Namespace"

// anyNamespace stands for all namespaces in a list of names.
const anyNamespace = "*"

// Namespaces reads the labels of a namespace. Errors: NotFound, Denied, Transient.
type Namespaces interface {
	Labels(ctx context.Context, namespace string) (map[string]string, error)
}

// notAllowedError is the error of a managed resource whose namespace may not use a
// ClusterProviderConfig.
type notAllowedError struct {
	config    Config
	namespace string
	shared    catalog.System // whose login the namespace would share; empty if it may use none of the config
}

func (n notAllowedError) Error() string {
	if n.shared != "" {
		return n.sharedLogin()
	}
	remedy := fmt.Sprintf("label it (kubectl label namespace %s %s=%s)", n.namespace, v1alpha1.LabelConnection, v1alpha1.ConnectionAllowed)
	if n.config.Allowed != nil {
		remedy = "add it to spec.allowedNamespaces"
	}
	return fmt.Sprintf("namespace %q may not use %s: a platform engineer has to %s, or the namespace needs a ProviderConfig of its own", n.namespace, n.config, remedy)
}

// IsNotAllowed reports whether an error is that a namespace may not use a
// ClusterProviderConfig.
func IsNotAllowed(err error) bool {
	var n notAllowedError
	return errors.As(err, &n)
}

// permit checks that the namespace of the managed resource may use a Config. One of
// its own it always may. A resource of the cluster is the platform's. Errors: Denied,
// and those of Namespaces.
func (r resolver) permit(ctx context.Context, c Config) error {
	if c.Kind == v1alpha1.KindProviderConfig || r.namespace == "" {
		return nil
	}
	if c.Allowed != nil && (slices.Contains(c.Allowed.Names, anyNamespace) || slices.Contains(c.Allowed.Names, r.namespace)) {
		return nil
	}
	selector, err := selectorOf(c)
	if err != nil {
		return err
	}
	if !selector.Empty() {
		r.read(requeue.Key{Kind: KindNamespace, NamespacedName: types.NamespacedName{Name: r.namespace}})
		have, err := r.namespaces.Labels(ctx, r.namespace)
		if err != nil {
			return fmt.Errorf("cannot decide whether namespace %q may use %s: %w", r.namespace, c, err)
		}
		if selector.Matches(labels.Set(have)) {
			return nil
		}
	}
	return fault.As(fault.Denied, notAllowedError{config: c, namespace: r.namespace})
}

// selectorOf returns the selector of the namespaces that may use a
// ClusterProviderConfig. An empty one selects none.
func selectorOf(c Config) (labels.Selector, error) {
	if c.Allowed == nil {
		return labels.SelectorFromSet(labels.Set{v1alpha1.LabelConnection: v1alpha1.ConnectionAllowed}), nil
	}
	if c.Allowed.Selector == nil {
		return labels.NewSelector(), nil
	}
	s, err := metav1.LabelSelectorAsSelector(c.Allowed.Selector)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "%s: spec.allowedNamespaces.selector: %w", c, err)
	}
	return s, nil
}
