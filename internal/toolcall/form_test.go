package toolcall_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/toolcall"
)

// TestForms reads calls in the form of each family.
func TestForms(t *testing.T) {
	for _, family := range toolcall.Families() {
		f := family.Form()
		text := f.Prefix + f.Begin("get_weather") + weather + f.End + f.Separator + f.Begin("now") + "{}" + f.End + f.Suffix
		want := calls("get_weather("+weather+")", "now({})")
		if d := cmp.Diff(want, parse(t, f.Reads, parseTools(t), text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", family, d)
		}
	}
}
