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

// A State says whether a namespace may use a Model of another one.
type State int

// States of a grant.
const (
	Unread  State = iota // the Model has not been read yet, or cannot be decoded
	Allowed              // the Model lists the namespace
	Denied               // the Model does not, or does not exist
)

// Of requires a Model under the key, and returns the state of its grant to the namespace
// user.
func Of(c *compose.Call, key, namespace, name, user string) State {
	var m v1.Model
	found, known := c.Require(key, v1.APIVersion, v1.KindModel, namespace, name, &m)
	switch {
	case found && Allows(m, user):
		return Allowed
	case found, known && !c.Known(key):
		return Denied
	}
	return Unread
}

// TokenPrefix is the prefix of the keys of Tokens for gateways of other namespaces, in the
// registry of the guest. No gateway accepts tokens with it.
const TokenPrefix = "granted/"

// Labels mark a Token that is for a Model of another namespace.
func Labels(namespace, name string) map[string]string {
	return map[string]string{v1.LabelGrantedModel: names.Join(names.MaxLabel, namespace+"/"+name)}
}
