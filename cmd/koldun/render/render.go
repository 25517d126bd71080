// Package render prints what the functions compose from claims, as if all that they compose
// became ready.
package render

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/composer"
	"github.com/gorizond/koldun/cmd/koldun/managed"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/preflight"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// maxRounds is far more than any kind needs to become ready.
const maxRounds = 16

// Config is how claims are rendered.
type Config struct {
	Schemas *validation.Schemas
	Image   string // of koldun, for the composed pods
	Model   string // config.json of all models; empty if not known
	First   bool   // stop after the first composition
}

// A renderer expands composites as if all that they compose became ready.
type renderer struct {
	composer local.Composer
	cfg      Config
	out      io.Writer
	known    map[local.Key]local.Object // that composites may require
}

// Claims prints YAML documents to out: each claim, after those that it refers to, followed by
// what it composes. It goes on after claims that are refused, and returns the errors of all.
func Claims(ctx context.Context, cfg Config, claims []local.Object, out io.Writer) error {
	r := renderer{composer: composer.New(cfg.Schemas, compose.Config{Image: cfg.Image}), cfg: cfg, out: out, known: map[local.Key]local.Object{}}
	return r.renderAll(ctx, claims)
}

func (r renderer) renderAll(ctx context.Context, claims []local.Object) error {
	for _, claim := range claims {
		r.known[claim.Key()] = claim
	}
	kinds := router.Kinds()
	rank := func(o local.Object) int { return slices.Index(kinds, o.Key().Kind) }
	order := slices.Clone(claims)
	slices.SortStableFunc(order, func(a, b local.Object) int { return rank(a) - rank(b) })
	var all []error
	for _, claim := range order {
		if claim.Key().Group() != local.CompositeGroup {
			continue
		}
		xr, err := r.render(ctx, claim, "")
		if err != nil && xr == nil {
			return errors.Join(append(all, err)...)
		}
		if err != nil {
			all = append(all, err)
		}
		r.known[claim.Key()] = xr
		if err := r.printIgnored(xr); err != nil {
			return errors.Join(append(all, err)...)
		}
	}
	return errors.Join(all...)
}

// printIgnored prints which fields of a claim have no effect, as a comment after what is
// composed of it.
func (r renderer) printIgnored(xr local.Object) error {
	for _, c := range conditionsOf(xr) {
		if c.Type == v1.ConditionLegacyFields && c.Status == local.True {
			if _, err := fmt.Fprintf(r.out, "# %s: %s: %s\n", xr.Key(), c.Reason, c.Message); err != nil {
				return err
			}
		}
	}
	return nil
}

func conditionsOf(xr local.Object) []local.Condition {
	var status struct {
		Conditions []local.Condition `json:"conditions"`
	}
	if err := xr.Decode(&status, "status"); err != nil {
		return nil // without a status there are none
	}
	return status.Conditions
}

func (r renderer) compose(ctx context.Context, xr local.Object, observed map[string]local.Object) (local.Composed, error) {
	return local.ComposeUntilStable(ctx, r.composer, local.Input{
		Composite: xr, Observed: observed,
		Find: func(want local.Requirement) []local.Object { return r.find(xr.Key().Namespace, want) },
	})
}

// find returns the known objects that match a requirement, sorted by name.
func (r renderer) find(namespace string, want local.Requirement) []local.Object {
	var out []local.Object
	for _, obj := range r.known {
		if want.Matches(namespace, obj) {
			out = append(out, obj)
		}
	}
	slices.SortFunc(out, func(a, b local.Object) int { return strings.Compare(a.Key().Name, b.Key().Name) })
	return out
}

// render prints the composite and every object that it composes until it is
// ready, including Jobs that the ready composite no longer has. It returns the
// composite with its final status.
func (r renderer) render(ctx context.Context, xr local.Object, origin string) (local.Object, error) {
	if err := r.print(xr, origin); err != nil {
		return nil, err
	}
	observed := map[string]local.Object{}
	printed := map[string]bool{}
	for range maxRounds {
		composed, err := r.compose(ctx, xr, observed)
		if err != nil {
			return nil, err
		}
		for _, result := range composed.Results {
			if result.Severity == local.Fatal {
				return xr, fault.Errorf(fault.Invalid, "cannot render %s: %s", xr.Key(), result.Message)
			}
		}
		next := map[string]local.Object{}
		for _, name := range slices.Sorted(maps.Keys(composed.Desired)) {
			obj := composed.Desired[name]
			id := name + " " + obj.Key().String()
			seen, again := observed[name]
			switch {
			case obj.Key().Group() == local.CompositeGroup && !again:
				r.known[obj.Key()] = obj
				if obj, err = r.render(ctx, obj, xr.Key().String()); err != nil {
					return xr, err
				}
				r.known[obj.Key()] = obj
			case obj.Key().Group() == local.CompositeGroup:
				obj["status"] = seen["status"]
			default:
				if !printed[id] {
					if err := r.print(obj, xr.Key().String()); err != nil {
						return nil, err
					}
					if err := r.renderDependents(ctx, obj); err != nil {
						return xr, err
					}
				}
				if obj, err = r.simulate(ctx, obj, observed); err != nil {
					return xr, err
				}
			}
			printed[id] = true
			next[name] = obj
		}
		xr = withStatus(xr, composed)
		if r.cfg.First {
			return xr, nil
		}
		if settled(observed, next) {
			return xr, refused(xr)
		}
		observed = next
	}
	return nil, fault.Errorf(fault.Internal, "cannot render %s: its composition still changes after %d rounds", xr.Key(), maxRounds)
}

// refused returns why the spec of a composite cannot work, if everything that it
// composes becomes ready.
func refused(xr local.Object) error {
	for _, c := range conditionsOf(xr) {
		if c.Type == v1.ConditionServing && c.Status == local.False && reason.Final(c.Reason) {
			return fault.Errorf(fault.Invalid, "cannot render %s: %s: %s", xr.Key(), c.Reason, c.Message)
		}
	}
	return nil
}

// withConfig gives a revision of a hub the config.json that all models have, and files in
// a volume the header that follows from it.
func (r renderer) withConfig(obj local.Object, observed map[string]local.Object) (local.Object, error) {
	status, ok := obj["status"].(map[string]any)
	if r.cfg.Model == "" || !ok {
		return obj, nil
	}
	switch obj.Key().Kind {
	case "HubRevision":
		if found, ok := status["atProvider"].(map[string]any); ok {
			found["config"] = r.cfg.Model
		}
	case "ModelArtifact":
		var params struct{ URL, ProgressKey string }
		if err := obj.Decode(&params, "spec", "forProvider"); err != nil {
			return nil, err
		}
		if !names.InVolume(params.URL) {
			return obj, nil
		}
		weights := option(jobWith("--progress-key="+params.ProgressKey, observed), "--weights")
		shape, err := topology.FromConfig([]byte(r.cfg.Model), topology.FloatType(cmp.Or(weights, string(topology.Q40))))
		if err != nil {
			return nil, fmt.Errorf("cannot render %s by the configuration of the models: %w", obj.Key(), err)
		}
		status["atProvider"] = map[string]any{"whole": true, "sizeBytes": shape.WeightBytes(), "weights": string(shape.Weights), "shape": preflight.StatusOf(shape)}
		return local.NewObject(obj)
	}
	return obj, nil
}

// renderDependents renders the composites that a Pool creates without demand, and
// that of a Part.
func (r renderer) renderDependents(ctx context.Context, obj local.Object) error {
	switch obj.Key().Kind {
	case "Pool":
		return r.renderMembers(ctx, obj)
	case "Part":
		return r.renderPart(ctx, obj)
	}
	return nil
}

// renderMembers renders the Dllamas of a Pool.
func (r renderer) renderMembers(ctx context.Context, obj local.Object) error {
	var s pool.Spec
	if err := obj.Decode(&s, "spec", "forProvider"); err != nil {
		return err
	}
	var o pool.Status
	if err := simulate(obj, nil).Decode(&o, "status", "atProvider"); err != nil {
		return err
	}
	return r.renderObjects(ctx, pool.Dllamas().Objects(s, o), obj)
}

// renderObjects renders the composites that a managed resource creates.
func (r renderer) renderObjects(ctx context.Context, dependents []external.Object, obj local.Object) error {
	objects, err := managed.Objects(dependents, obj.Key().Namespace, r.cfg.Schemas.Default)
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

// settled reports whether two rounds composed the same.
func settled(a, b map[string]local.Object) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}
