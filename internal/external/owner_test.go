package external_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
)

func TestOwner(t *testing.T) {
	shared := func(namespace string) external.Owner { return external.Owner{Namespace: namespace, Common: true} }
	own := func(namespace string) external.Owner { return external.Owner{Namespace: namespace} }
	cases := map[string]struct {
		owner external.Owner
		mark  string
		want  string // "" if it may
	}{
		"ItsOwn":                    {shared("a"), "a", ""},
		"AnothersOnSharedLogin":     {shared("b"), "a", `it belongs to namespace "a": namespace "b" may use it`},
		"NobodysOnSharedLogin":      {shared("b"), "", "it has no owner, and other namespaces use the same credentials"},
		"NobodysOnItsOwnLogin":      {own("b"), "", ""},
		"AnothersOnItsOwnLogin":     {own("b"), "a", `it belongs to namespace "a"`},
		"NobodysForTerraform":       {external.Owner{}, "", ""},
		"ANamespacesForTerraform":   {external.Owner{}, "a", "this resource may use it"},
		"ItsOwnOfAllNamespaces":     {external.Owner{Namespace: "a", Common: true, Folder: "teams/a"}, "a", `it is for several namespaces, of which "a" has folder "teams/a"`},
		"NobodysOfAllNamespaces":    {external.Owner{Namespace: "a", Common: true, Folder: "a"}, "", "A platform engineer does so"},
		"FolderOnItsOwnLogin":       {external.Owner{Namespace: "a", Folder: "a"}, "", ""},
		"NoNamespaceOnSharedLogins": {shared(""), "", "it has no owner"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.owner.Check("it", c.mark)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !fault.Is(err, fault.Denied) || !errors.Is(err, external.ErrNotOwner) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a denial that says %q", err, c.want)
			}
		})
	}
	if got := shared("a").Metadata()[external.OwnerKey]; got != "a" {
		t.Errorf("the mark on a shared login is %q", got)
	}
	if got := own("a").Metadata(); got != nil {
		t.Errorf("the mark on a login of its own is %v", got)
	}
}
