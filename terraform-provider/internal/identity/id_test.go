package identity

import (
	"maps"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

func TestIDs(t *testing.T) {
	pair := Of("namespace", "name")
	placed := Attributes{Parts: []string{"name"}, Places: []Place{{"bucket", "usual"}, {"prefix", "token/"}}}
	for _, c := range []struct {
		of   Attributes
		id   string
		want map[string]string
	}{
		{pair, "a/b", map[string]string{"namespace": "a", "name": "b"}},
		{pair, "a/b/c?d=e", map[string]string{"namespace": "a", "name": "b/c?d=e"}},
		{placed, "a/b", map[string]string{"name": "a/b", "bucket": "usual", "prefix": "token/"}},
		{placed, "a?bucket=other", map[string]string{"name": "a", "bucket": "other", "prefix": "token/"}},
		{placed, "a?bucket=other&prefix=x/y=", map[string]string{"name": "a", "bucket": "other", "prefix": "x/y="}},
		{placed, "what?prefix=p-", map[string]string{"name": "what", "bucket": "usual", "prefix": "p-"}},
	} {
		got, err := c.of.parse(c.id)
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%q is %v, %v, want %v", c.id, got, err, c.want)
		}
		o := tfschema.Object{}
		for k, v := range got {
			o.Set(k, v)
		}
		if back := c.of.ID(o); back != c.id {
			t.Errorf("%q becomes %q", c.id, back)
		}
	}
	for _, c := range []struct {
		of   Attributes
		id   string
		want string
	}{
		{pair, "a", "NAMESPACE/NAME"},
		{pair, "/b", "NAMESPACE/NAME"},
		{placed, "", "NAME or NAME?bucket=BUCKET&prefix=PREFIX"},
		{placed, "a?bukcet=b", `there is no "bukcet"`},
		{placed, "a?bucket=", "its bucket is empty"},
	} {
		if _, err := c.of.parse(c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is refused with %v, want %q", c.id, err, c.want)
		}
	}
}
