// Package grant reads what a Model allows to other namespaces.
package grant

import (
	"slices"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/internal/names"
)

// Allows reports whether a Model may be used in another namespace.
func Allows(m v1.Model, namespace string) bool {
	return slices.Contains(m.Spec.AllowedNamespaces, namespace) || slices.Contains(m.Spec.AllowedNamespaces, "*")
}

// Withdrawn reports whether a namespace may not use a Model of another one, which is
// required under the key. One that has not been read yet, or cannot be, says nothing of
// the grant; one that is deleted grants nothing.
func Withdrawn(c *compose.Call, key, namespace, name, user string) bool {
	if namespace == "" || namespace == user {
		return false
	}
	var m v1.Model
	found, known := c.Require(key, v1.APIVersion, v1.KindModel, namespace, name, &m)
	if !found {
		return known && !c.Known(key)
	}
	return !Allows(m, user)
}

// TokenPrefix begins the keys of Tokens for gateways of other namespaces, in the registry
// of the namespace that asks. No gateway there accepts them.
const TokenPrefix = "granted/"

// Labels mark a Token that is for a Model of another namespace.
func Labels(namespace, name string) map[string]string {
	return map[string]string{v1.LabelGrantedModel: names.Join(names.MaxLabel, namespace+"/"+name)}
}
