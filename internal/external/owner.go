package external

import (
	"errors"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// OwnerKey is the key of the metadata of a stream, or of the tag of an S3 bucket, that
// names the namespace that made it.
const OwnerKey = "koldun.gorizond.io/owner"

// ErrNotOwner is in every error of Owner.Check.
var ErrNotOwner = errors.New("it is not the owner")

// An Owner says for whom a client manages what is on a server. The zero value manages
// what has no other owner.
type Owner struct {
	// Namespace of the managed resource. Empty: it has none, as in Terraform.
	Namespace string
	// Common says that namespaces that do not trust each other use the server with the
	// same credentials.
	Common bool
	// Folder of the namespace in what is on the server, if other namespaces have theirs there:
	// then it is all namespaces', and belongs to none.
	Folder string
	// Deleting says that the managed resource is being deleted.
	Deleting bool
}

// Mark returns the owner to record with a new external resource, "" for none.
func (o Owner) Mark() string {
	if !o.Common || o.Folder != "" {
		return ""
	}
	return o.Namespace
}

// Check returns nil if the owner may change and delete an external resource with this
// mark, else an error of kind Denied. On common credentials no namespace may change
// what has no mark: it may be another namespace's.
func (o Owner) Check(what, mark string) error {
	var why string
	switch {
	case o.Common && o.Folder != "":
		return fault.As(fault.Denied, refusal(fmt.Sprintf("%s is for several namespaces, of which %q has folder %q: it may use that folder, and neither change nor delete what all of them use. "+
			"A platform engineer does so with the tools of the server", what, o.Namespace, o.Folder)))
	case mark == "" && !o.Common, mark != "" && mark == o.Namespace:
		return nil
	case mark == "":
		why = fmt.Sprintf("%s has no owner, and other namespaces use the same credentials", what)
	default:
		why = fmt.Sprintf("%s belongs to namespace %q", what, mark)
	}
	who := "this resource"
	if o.Namespace != "" {
		who = fmt.Sprintf("namespace %q", o.Namespace)
	}
	return fault.As(fault.Denied, refusal(fmt.Sprintf("%s: %s may use it as it is, and neither change nor delete it. To take it over, a platform engineer sets its %s to the namespace",
		why, who, OwnerKey)))
}

// Metadata returns the mark as metadata, nil for none.
func (o Owner) Metadata() map[string]string {
	if o.Mark() == "" {
		return nil
	}
	return map[string]string{OwnerKey: o.Mark()}
}

// A refusal is the text of an ErrNotOwner.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrNotOwner }
