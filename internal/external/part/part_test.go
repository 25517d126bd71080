package part_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/part"
)

// object returns a Model of the name with a status.
func object(name string, status map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}, "status": status}
}

func serving(status, reason, message string) []any {
	return []any{
		map[string]any{"type": "Ready", "status": "False", "reason": "Creating"},
		map[string]any{"type": "Serving", "status": status, "reason": reason, "message": message},
	}
}

// TestProgressIsNotReported observes a composite in its states.
func TestProgressIsNotReported(t *testing.T) {
	artifact, shape := map[string]any{"url": "s3://b/x"}, map[string]any{"layers": 4}
	cases := map[string]struct {
		own  []map[string]any
		want part.Status
	}{
		"None":     {},
		"Another":  {own: []map[string]any{object("other", map[string]any{"url": "http://other"})}},
		"New":      {own: []map[string]any{object("m", nil)}},
		"Progress": {own: []map[string]any{object("m", map[string]any{"progress": "fetch 10%", "conditions": serving("False", "Downloading", "10%")})}},
		"Failure": {
			own:  []map[string]any{object("m", map[string]any{"conditions": serving("False", "StorageFull", "no space")})},
			want: part.Status{Reason: "StorageFull", Message: "no space"},
		},
		"Outputs": {
			own:  []map[string]any{object("m", map[string]any{"artifact": artifact, "shape": shape, "commit": "abc", "conditions": serving("False", "Downloading", "")})},
			want: part.Status{Outputs: map[string]any{"artifact": artifact, "shape": shape}},
		},
		"WithoutRoute": {
			own: []map[string]any{object("m", map[string]any{"conditions": append(serving("True", "Available", "it serves"),
				map[string]any{"type": "Prerequisites", "status": "False", "reason": "PrerequisiteMissing", "message": "no Gateway API"})})},
			want: part.Status{Serving: true, Reason: "PrerequisiteMissing", Message: "no Gateway API"},
		},
		"RouteAgain": {
			own: []map[string]any{object("m", map[string]any{"conditions": append(serving("True", "Available", "it serves"),
				map[string]any{"type": "Prerequisites", "status": "True", "reason": "PrerequisitesMet", "message": "there"})})},
			want: part.Status{Serving: true},
		},
		"Serving": {
			own:  []map[string]any{object("m", map[string]any{"url": "http://h", "conditions": serving("True", "Available", "it serves")})},
			want: part.Status{Serving: true, Outputs: map[string]any{"url": "http://h"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := part.Spec{Kind: "Model", Name: "m", TransientReasons: []string{"Downloading"}}
			part.Composites().Note(&s, external.Existing{Own: c.own, Others: []map[string]any{object("m", map[string]any{"url": "http://not-ours"})}})
			o, err := part.Client{}.Observe(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, o.Status); d != "" {
				t.Error(d)
			}
			if o.Ready != c.want.Serving || !c.want.Serving && o.Message != c.want.Message || c.want.Serving && o.Message != "" || !o.Exists || !o.UpToDate {
				t.Errorf("the observation is %+v", o)
			}
		})
	}
}

func TestComposite(t *testing.T) {
	s := part.Spec{Kind: "Ingress", Name: "i", Template: external.Template{Labels: map[string]string{"a": "b"}, Spec: map[string]any{"service": "x"}}}
	d := part.Composites()
	want := []external.Object{{APIVersion: "koldun.gorizond.io/v1", Kind: "Ingress", Name: "i", Labels: map[string]string{"a": "b"}, Spec: map[string]any{"service": "x"}}}
	if diff := cmp.Diff(want, d.Objects(s, part.Status{})); diff != "" || d.Kind(s) != "Ingress" || !d.Enabled(s) {
		t.Error(diff)
	}
}
