package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
)

// RenderCmd prints what claims become.
type RenderCmd struct {
	Files []string `name:"file" short:"f" required:"" help:"Claims to render; - is standard input."`
	Image string   `default:"${image}" env:"KOLDUN_IMAGE" help:"Image of the koldun binary, for the pods that are composed."`
	First bool     `help:"Only what is composed at once, before anything is observed."`
}

// Run prints YAML documents: each claim, followed by what it leads to.
func (c *RenderCmd) Run(ctx context.Context) error {
	schemas, err := validation.Load()
	if err != nil {
		return err
	}
	claims, err := readClaims(ctx, schemas, c.Files)
	if err != nil {
		return err
	}
	r := renderer{composer: newComposer(schemas, c.Image), defaults: schemas.Default, out: os.Stdout, rounds: maxRounds, known: map[local.Key]local.Object{}}
	if c.First {
		r.rounds = 1
	}
	return r.renderAll(ctx, claims)
}

// renderAll renders what others refer to first.
func (r renderer) renderAll(ctx context.Context, claims []local.Object) error {
	for _, claim := range claims {
		r.known[claim.Key()] = claim
	}
	order := slices.Clone(claims)
	slices.SortStableFunc(order, func(a, b local.Object) int { return rank(a) - rank(b) })
	for _, claim := range order {
		if claim.Key().Group() != local.CompositeGroup {
			continue
		}
		xr, err := r.render(ctx, claim, "")
		if err != nil {
			return err
		}
		r.known[claim.Key()] = xr
	}
	return nil
}

// rank orders kinds by who refers to whom.
func rank(o local.Object) int {
	return slices.Index([]string{"Model", "Worker", "Root", "Ingress", "Session", "Dllama"}, o.Key().Kind)
}

// maxRounds is far more than any kind needs to become ready.
const maxRounds = 16

// A renderer expands composites as if all that they compose became ready.
type renderer struct {
	composer local.Composer
	defaults func(obj map[string]any)
	out      io.Writer
	rounds   int
	known    map[local.Key]local.Object // what others may refer to
}

// compose composes until nothing more is asked for.
func (r renderer) compose(ctx context.Context, xr local.Object, observed map[string]local.Object) (local.Composed, error) {
	var required map[string][]local.Object
	for {
		composed, err := r.composer.Compose(ctx, xr, observed, required)
		if err != nil || len(composed.Requirements) == len(required) {
			return composed, err
		}
		required = map[string][]local.Object{}
		for key, want := range composed.Requirements {
			required[key] = r.lookUp(xr.Key().Namespace, want)
		}
	}
}

func (r renderer) lookUp(namespace string, want local.Requirement) []local.Object {
	if want.Namespace != "" {
		namespace = want.Namespace
	}
	out := []local.Object{}
	for key, obj := range r.known {
		if key.APIVersion != want.APIVersion || key.Kind != want.Kind || key.Namespace != namespace || want.Name != "" && key.Name != want.Name {
			continue
		}
		labels := map[string]string{}
		if obj.Decode(&labels, "metadata", "labels") == nil && contains(labels, want.MatchLabels) {
			out = append(out, obj)
		}
	}
	slices.SortFunc(out, func(a, b local.Object) int { return strings.Compare(a.Key().Name, b.Key().Name) })
	return out
}

func contains(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// render prints the composite and everything that is composed on its way to
// being ready, Jobs that are gone by then included. It returns the composite
// with its final status.
func (r renderer) render(ctx context.Context, xr local.Object, origin string) (local.Object, error) {
	if err := r.print(xr, origin); err != nil {
		return nil, err
	}
	observed := map[string]local.Object{}
	printed := map[string]bool{}
	for range r.rounds {
		composed, err := r.compose(ctx, xr, observed)
		if err != nil {
			return nil, err
		}
		for _, result := range composed.Results {
			if result.Severity == local.Fatal {
				return nil, fault.Errorf(fault.Invalid, "cannot render %s: %s", xr.Key(), result.Message)
			}
		}
		next := map[string]local.Object{}
		for _, name := range sortedKeys(composed.Desired) {
			obj := composed.Desired[name]
			id := name + " " + obj.Key().String()
			seen, again := observed[name]
			switch {
			case obj.Key().Group() == local.CompositeGroup && !again:
				r.known[obj.Key()] = obj
				if obj, err = r.render(ctx, obj, xr.Key().String()); err != nil {
					return nil, err
				}
				r.known[obj.Key()] = obj
			case obj.Key().Group() == local.CompositeGroup:
				obj["status"] = seen["status"]
			default:
				if !printed[id] {
					if err := r.print(obj, xr.Key().String()); err != nil {
						return nil, err
					}
					if err := r.renderMade(ctx, obj); err != nil {
						return nil, err
					}
				}
				obj = simulate(obj, observed)
			}
			printed[id] = true
			next[name] = obj
		}
		xr = withStatus(xr, composed)
		if settled(observed, next) {
			break
		}
		observed = next
	}
	return xr, nil
}

// renderMade renders what a managed resource makes when nothing is asked for.
func (r renderer) renderMade(ctx context.Context, obj local.Object) error {
	if obj.Key().Kind != "Pool" {
		return nil
	}
	var s pool.Spec
	if err := obj.Decode(&s, "spec", "forProvider"); err != nil {
		return err
	}
	var o pool.Status
	if err := simulate(obj, nil).Decode(&o, "status", "atProvider"); err != nil {
		return err
	}
	objects, err := made(pool.Dllamas().Objects(s, o), obj.Key().Namespace, r.defaults)
	if err != nil {
		return err
	}
	for _, o := range objects {
		r.known[o.Key()] = o
		xr, err := r.render(ctx, o, obj.Key().String())
		if err != nil {
			return err
		}
		r.known[o.Key()] = xr
	}
	return nil
}

func (r renderer) print(obj local.Object, origin string) error {
	raw, err := yaml.Marshal(map[string]any(obj))
	if err != nil {
		return fmt.Errorf("cannot print %s: %w", obj.Key(), err)
	}
	comment := "# " + obj.Key().String()
	if origin != "" {
		comment += ", composed by " + origin
	}
	_, err = fmt.Fprintf(r.out, "---\n%s\n%s", comment, raw)
	return err
}

func withStatus(xr local.Object, composed local.Composed) local.Object {
	status := map[string]any{}
	for k, v := range composed.Status {
		status[k] = v
	}
	conditions := make([]any, 0, len(composed.Conditions))
	for _, c := range composed.Conditions {
		conditions = append(conditions, map[string]any{"type": c.Type, "status": c.Status, "reason": c.Reason, "message": c.Message})
	}
	status["conditions"] = conditions
	out := local.Object{}
	for k, v := range xr {
		out[k] = v
	}
	out["status"] = status
	return out
}

func settled(a, b map[string]local.Object) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}
