package local

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
)

// requiring is a Composer whose function next returns the requirements that
// follow from the given objects.
type requiring struct {
	calls []map[string][]Object
	next  func(call int, required map[string][]Object) map[string]Requirement
	err   error
}

func (r *requiring) Compose(_ context.Context, _ Object, _ map[string]Object, required map[string][]Object) (Composed, error) {
	r.calls = append(r.calls, required)
	return Composed{Requirements: r.next(len(r.calls), required)}, r.err
}

func modelNamed(name string) Requirement {
	return Requirement{APIVersion: CompositeGroup + "/v1", Kind: "Model", Name: name}
}

func findModel(r Requirement) []Object {
	if r.Name == "missing" {
		return nil
	}
	return []Object{{"apiVersion": r.APIVersion, "kind": r.Kind, "metadata": map[string]any{"namespace": "default", "name": r.Name}}}
}

func TestComposeUntilStable(t *testing.T) {
	always := func(rs map[string]Requirement) func(int, map[string][]Object) map[string]Requirement {
		return func(int, map[string][]Object) map[string]Requirement { return rs }
	}
	cases := map[string]struct {
		before map[string]Requirement
		next   func(call int, required map[string][]Object) map[string]Requirement
		calls  int
		last   map[string][]Object // arguments of the last call
	}{
		"Nothing": {next: always(nil), calls: 1, last: map[string][]Object{}},
		"One":     {next: always(map[string]Requirement{"m": modelNamed("a")}), calls: 2, last: map[string][]Object{"m": findModel(modelNamed("a"))}},
		"Missing": {next: always(map[string]Requirement{"m": modelNamed("missing")}), calls: 2, last: map[string][]Object{"m": {}}},
		"Known": {
			before: map[string]Requirement{"m": modelNamed("a")}, next: always(map[string]Requirement{"m": modelNamed("a")}),
			calls: 1, last: map[string][]Object{"m": findModel(modelNamed("a"))},
		},
		"NoLonger": {before: map[string]Requirement{"m": modelNamed("a")}, next: always(nil), calls: 1, last: map[string][]Object{"m": findModel(modelNamed("a"))}},
		// The same number of requirements as before, but different ones.
		"Changed": {
			before: map[string]Requirement{"m": modelNamed("a")}, next: always(map[string]Requirement{"m": modelNamed("b")}),
			calls: 2, last: map[string][]Object{"m": findModel(modelNamed("b"))},
		},
		"FromTheFirst": {
			next: func(_ int, required map[string][]Object) map[string]Requirement {
				out := map[string]Requirement{"m": modelNamed("a")}
				if len(required["m"]) > 0 {
					out["other"] = modelNamed("b")
				}
				return out
			},
			calls: 3, last: map[string][]Object{"m": findModel(modelNamed("a")), "other": findModel(modelNamed("b"))},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			composer := &requiring{next: c.next}
			_, err := ComposeUntilStable(t.Context(), composer, Input{Composite: xr("a"), Requirements: c.before, Find: findModel})
			if err != nil || len(composer.calls) != c.calls {
				t.Fatalf("%d calls, %v; want %d", len(composer.calls), err, c.calls)
			}
			if diff := cmp.Diff(c.last, composer.calls[c.calls-1]); diff != "" {
				t.Errorf("required (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComposeUntilStableIsBounded(t *testing.T) {
	composer := &requiring{next: func(call int, _ map[string][]Object) map[string]Requirement {
		return map[string]Requirement{"m": modelNamed(fmt.Sprint(call))}
	}}
	_, err := ComposeUntilStable(t.Context(), composer, Input{Composite: xr("a"), Find: findModel})
	if !fault.Is(err, fault.Internal) || len(composer.calls) != maxIterations {
		t.Errorf("%d calls, %v; want %d", len(composer.calls), err, maxIterations)
	}
}

func TestComposeUntilStableReturnsErrors(t *testing.T) {
	boom := errors.New("boom")
	composer := &requiring{next: func(int, map[string][]Object) map[string]Requirement { return nil }, err: boom}
	_, err := ComposeUntilStable(t.Context(), composer, Input{Composite: xr("a"), Find: findModel})
	if !errors.Is(err, boom) || err.Error() != "cannot compose Dllama default/a: boom" {
		t.Errorf("error = %v", err)
	}
}

func TestRequirementMatches(t *testing.T) {
	obj := Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"namespace": "ns", "name": "s", "labels": map[string]any{"a": "1", "b": "2"},
	}}
	for name, c := range map[string]struct {
		r    Requirement
		want bool
	}{
		"Name":           {Requirement{APIVersion: "v1", Kind: "Secret", Name: "s"}, true},
		"OtherName":      {Requirement{APIVersion: "v1", Kind: "Secret", Name: "t"}, false},
		"OtherKind":      {Requirement{APIVersion: "v1", Kind: "ConfigMap", Name: "s"}, false},
		"OtherVersion":   {Requirement{APIVersion: "v2", Kind: "Secret", Name: "s"}, false},
		"Namespace":      {Requirement{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "s"}, true},
		"OtherNamespace": {Requirement{APIVersion: "v1", Kind: "Secret", Namespace: "other", Name: "s"}, false},
		"Labels":         {Requirement{APIVersion: "v1", Kind: "Secret", MatchLabels: map[string]string{"a": "1", "b": "2"}}, true},
		"OtherLabel":     {Requirement{APIVersion: "v1", Kind: "Secret", MatchLabels: map[string]string{"a": "1", "b": "3"}}, false},
		"MissingLabel":   {Requirement{APIVersion: "v1", Kind: "Secret", MatchLabels: map[string]string{"c": "1"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.r.Matches("ns", obj); got != c.want {
				t.Errorf("Matches = %v, want %v", got, c.want)
			}
		})
	}
}
