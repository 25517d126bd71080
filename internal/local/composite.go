package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const (
	// maxSettle limits compositions without an external change. More mean a
	// cycle of compositions that never settle.
	maxSettle = 200

	compositeLabel = "crossplane.io/composite"
	roleAnnotation = "crossplane.io/composition-resource-name"
)

// compositeState has the additional fields of a composite's entry.
type compositeState struct {
	requirements map[string]Requirement
	desired      []string        // names of the composed resources
	ready        map[string]bool // from the Composer
	unready      bool            // from the Composer, for the composite itself
	fatal        string          // the message of a Fatal result
	conditions   map[string]Condition
}

// requires reports whether an object is among the requirements.
func (c *compositeState) requires(namespace string, o Object) bool {
	for _, r := range c.requirements {
		if r.Matches(namespace, o) {
			return true
		}
	}
	return false
}

// compositions compose the composites of a table. The goroutine of Run calls them.
type compositions struct {
	table    *table
	composer Composer
}

// composeAll composes until nothing is dirty.
func (c *compositions) composeAll(ctx context.Context) {
	t := c.table
	for range maxSettle {
		if len(t.dirty) == 0 {
			return
		}
		// Oldest first: parents before children, in a stable order.
		for _, key := range slices.Clone(t.order) {
			if e := t.entries[key]; t.dirty[key] && e != nil && !t.ending {
				delete(t.dirty, key)
				c.compose(ctx, e)
			}
		}
	}
	for key := range t.dirty {
		t.reportProblem(key, fault.Errorf(fault.Internal, "cannot settle %s: its composition changes every time", key))
	}
	clear(t.dirty)
}

// compose composes one composite and applies its desired objects.
func (c *compositions) compose(ctx context.Context, e *entry) {
	if e.removing {
		return
	}
	composed, err := c.desiredOf(ctx, e)
	e.composite.fatal = ""
	if err != nil {
		composed = Composed{Results: []Result{{Severity: Fatal, Message: err.Error()}}}
	}
	c.handleResults(e, composed.Results)
	var trouble error
	if e.composite.fatal != "" {
		trouble = errors.New(e.composite.fatal)
	} else {
		e.composite.desired, e.composite.ready, e.composite.unready = sortedKeys(composed.Desired), composed.Ready, composed.Unready
		trouble = c.applyDesired(e, composed.Desired)
	}
	c.setCompositeStatus(e, composed, trouble)
}

// handleResults reports each warning once, and records fatal results.
func (c *compositions) handleResults(e *entry, results []Result) {
	var warnings []error
	for _, r := range results {
		switch {
		case r.Severity == Warning:
			warnings = append(warnings, errors.New(r.Message))
		case r.Severity == Fatal && e.composite.fatal == "":
			e.composite.fatal = r.Message
		}
	}
	c.table.reportProblemOnce(e, errors.Join(warnings...))
}

// desiredOf computes the desired objects of a composite.
func (c *compositions) desiredOf(ctx context.Context, e *entry) (Composed, error) {
	observed := map[string]Object{}
	for role, key := range e.children {
		if child := c.table.entries[key]; child != nil {
			observed[role] = child.obj
		}
	}
	composed, err := ComposeUntilStable(ctx, c.composer, Input{
		Composite: e.obj, Observed: observed, Requirements: e.composite.requirements,
		Find: func(r Requirement) []Object { return c.table.find(e.key.Namespace, r) },
	})
	e.composite.requirements = composed.Requirements
	return composed, err
}

// applyDesired applies desired objects and removes those that are no longer desired.
func (c *compositions) applyDesired(e *entry, desired map[string]Object) error {
	var errs []error
	for _, role := range sortedKeys(desired) {
		obj, err := composedObject(desired[role], e.key, role)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if old, ok := e.children[role]; ok && old != obj.Key() {
			c.table.remove(old) // another object takes the role; the composite is dirty again when the old one is removed
			continue
		}
		if err := c.table.apply(obj, e.key, role); err != nil {
			errs = append(errs, err)
		}
	}
	for _, role := range sortedKeys(e.children) {
		if _, ok := desired[role]; !ok {
			c.table.remove(e.children[role])
		}
	}
	return errors.Join(errs...)
}

// composedObject sets the name, namespace, labels and annotations that Crossplane sets on
// desired objects.
func composedObject(desired Object, owner Key, role string) (Object, error) {
	obj, err := NewObject(desired)
	if err != nil {
		return nil, fmt.Errorf("cannot have composed resource %q: %w", role, err)
	}
	delete(obj, "status")
	meta, ok := fields(obj["metadata"])
	if !ok {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	if text(meta, "name") == "" {
		meta["name"] = names.Object(owner.Name, role)
	}
	if text(meta, "namespace") == "" {
		meta["namespace"] = owner.Namespace
	}
	setField(meta, "labels", compositeLabel, owner.Name)
	setField(meta, "annotations", roleAnnotation, role)
	if k := obj.Key(); k.APIVersion == "" || k.Kind == "" {
		return nil, fault.Errorf(fault.Invalid, "cannot have composed resource %q: apiVersion and kind are required", role)
	}
	return obj, nil
}

func setField(meta map[string]any, field, key, value string) {
	m, ok := fields(meta[field])
	if !ok {
		m = map[string]any{}
		meta[field] = m
	}
	m[key] = value
}

// setCompositeStatus writes status and conditions.
func (c *compositions) setCompositeStatus(e *entry, composed Composed, trouble error) {
	synced := Condition{Type: Synced, Status: True, Reason: "ReconcileSuccess"}
	if trouble != nil {
		synced = Condition{Type: Synced, Status: False, Reason: "ReconcileError", Message: trouble.Error()}
	}
	ready := c.readiness(e)
	conditions := []Condition{ready, synced}
	for _, other := range composed.Conditions {
		if other.Type != Ready && other.Type != Synced {
			conditions = append(conditions, other)
		}
	}
	status, _ := fields(e.obj["status"])
	next := map[string]any{}
	if e.composite.fatal != "" {
		maps.Copy(next, status) // a failed composition has no status
	}
	maps.Copy(next, composed.Status)
	next["conditions"] = withTransitionTimes(conditions, status["conditions"])
	if c.table.setStatus(e, next) {
		c.table.dirty[e.key] = true // the status is an input as well
	}
	e.blocked = ""
	if trouble != nil {
		e.blocked = trouble.Error()
	}
	c.emitConditions(e, conditions)
	c.table.setReady(e, ready.Status == True, ready.Message)
}

// readiness returns a composite's condition Ready, as Crossplane computes it.
func (c *compositions) readiness(e *entry) Condition {
	if e.composite.fatal != "" {
		return Condition{Type: Ready, Status: False, Reason: "Creating", Message: e.composite.fatal}
	}
	var unready []string
	for _, role := range e.composite.desired {
		if !c.table.childReady(e, role) {
			unready = append(unready, role)
		}
	}
	if len(unready) > 0 {
		return Condition{Type: Ready, Status: False, Reason: "Creating", Message: "Unready resources: " + strings.Join(unready, ", ")}
	}
	if e.composite.unready {
		return Condition{Type: Ready, Status: False, Reason: "Creating"}
	}
	return Condition{Type: Ready, Status: True, Reason: "Available"}
}

// emitConditions reports conditions with a new status or reason.
func (c *compositions) emitConditions(e *entry, conditions []Condition) {
	before := e.composite.conditions
	e.composite.conditions = map[string]Condition{}
	for _, now := range conditions {
		e.composite.conditions[now.Type] = now
		old := before[now.Type]
		if now.Type == Ready || now.Type == Synced && now.Status == True || now == old {
			continue
		}
		c.table.emit(Event{Type: ConditionChanged, Object: e.key, Condition: now, Message: now.Message})
	}
}

// withTransitionTimes sets the time of the last transition of conditions. It keeps the time if
// nothing else changes, so the time alone never changes a status.
func withTransitionTimes(conditions []Condition, before any) []any {
	list, _ := before.([]any)
	old := map[string]map[string]any{}
	for _, c := range list {
		if m, ok := fields(c); ok {
			old[text(m, "type")] = m
		}
	}
	out := make([]any, 0, len(conditions))
	for _, c := range conditions {
		m := map[string]any{"type": c.Type, "status": c.Status, "reason": c.Reason}
		if c.Message != "" {
			m["message"] = c.Message
		}
		m["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
		if was := old[c.Type]; was != nil && was["status"] == c.Status && was["lastTransitionTime"] != nil {
			m["lastTransitionTime"] = was["lastTransitionTime"]
		}
		out = append(out, m)
	}
	return out
}

// condition returns the object's condition of a type, or the zero Condition.
func condition(o Object, kind string) Condition {
	var list []Condition
	if err := o.Decode(&list, "status", "conditions"); err != nil {
		return Condition{}
	}
	for _, c := range list {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
