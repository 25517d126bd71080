package local

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"

	"github.com/gorizond/koldun/internal/fault"
)

// A table holds all objects, and the units that run them. The goroutine of Run owns it.
type table struct {
	observer Observer
	log      *slog.Logger
	newUnit  func(*entry) unit // returns nil for objects that nothing runs

	secrets    *secrets
	configs    *configs
	composites *composites

	entries map[Key]*entry
	order   []Key        // oldest first
	dirty   map[Key]bool // composites to compose
	ending  bool         // everything is being stopped
}

// An entry is one object of the table with its unit and state.
type entry struct {
	key      Key
	obj      Object // the desired spec and the status; replaced, never changed
	desired  Object // the object as last applied
	owner    Key    // the zero Key for a root
	role     string // its name among the owner's composed resources
	unit     unit   // runs the object; may be nil
	children map[string]Key
	removing bool

	composite compositeState

	readyEmitted bool // whether its readiness has been reported
	ready        bool
	blocked      string // why it can never become ready on this machine
	gaveUp       bool   // it is blocked because all tries failed
	lastProblem  string // the last reported error
	progress     any    // the last reported progress
}

// A unit runs one object. The goroutine of Run calls its methods, which do not
// block.
type unit interface {
	// apply handles a new or changed object.
	apply()
	// stop ends what runs. It may be called again, with the same or a further
	// reaching reason, and posts or calls every done once nothing runs.
	stop(reason stopReason, done func())
}

// A stopReason is the reason for stopping a unit.
type stopReason int

const (
	onShutdown stopReason = iota // everything stops; external resources stay
	onRemoval                    // the object is removed, with its external resources
)

// immutable returns the spec of a Job without the time for which a finished one is
// kept, which may change. Here it has no effect: finished Jobs cost nothing.
func immutable(job Object) map[string]any {
	spec, _ := fields(job["spec"])
	spec = maps.Clone(spec)
	delete(spec, "ttlSecondsAfterFinished")
	return spec
}

// apply adds an object, or replaces the one with its key.
func (t *table) apply(desired Object, owner Key, role string) error {
	key := desired.Key()
	e := t.entries[key]
	switch {
	case e == nil:
		return t.add(desired, owner, role)
	case e.owner != owner || e.role != role:
		holder := "the claims file"
		if e.owner != (Key{}) {
			holder = e.owner.String()
		}
		return fault.Errorf(fault.Conflict, "cannot have %s: it belongs to %s", key, holder)
	case e.removing:
		return nil // its removal makes the owner dirty, which adds it again
	case reflect.DeepEqual(e.desired, desired):
		return nil
	case classOf(key) == jobClass && !reflect.DeepEqual(immutable(e.desired), immutable(desired)):
		return fault.Errorf(fault.Conflict, "cannot change %s: the spec of a Job does not change", key)
	}
	e.desired = desired
	obj := desired.clone()
	generation, _ := at(e.obj, "metadata", "generation")
	n, _ := generation.(float64)
	if !reflect.DeepEqual(e.obj["spec"], desired["spec"]) {
		n++
	}
	obj["metadata"].(map[string]any)["generation"] = n
	if status, ok := e.obj["status"]; ok {
		obj["status"] = status
	}
	e.obj = obj
	return t.onChange(e)
}

func (t *table) add(desired Object, owner Key, role string) error {
	e := &entry{key: desired.Key(), desired: desired, owner: owner, role: role, children: map[string]Key{}}
	e.obj = desired.clone()
	delete(e.obj, "status")
	meta, ok := fields(e.obj["metadata"])
	if !ok {
		return fault.Errorf(fault.Invalid, "cannot have %s: it has no metadata", e.key)
	}
	meta["generation"] = float64(1)
	t.entries[e.key] = e
	t.order = append(t.order, e.key)
	if o := t.entries[owner]; o != nil {
		o.children[role] = e.key
	}
	t.emit(Event{Type: Added, Object: e.key})
	e.unit = t.newUnit(e)
	if classOf(e.key) == foreignClass {
		t.emit(Event{Type: NotRunHere, Object: e.key, Message: "koldun up does not run the kind " + e.key.Kind})
	}
	return t.onChange(e)
}

// onChange handles a new or changed object.
func (t *table) onChange(e *entry) error {
	switch classOf(e.key) {
	case compositeClass:
		t.dirty[e.key] = true
	case secretClass:
		data, err := secretData(e.obj)
		if err != nil {
			return fmt.Errorf("cannot use %s: %w", e.key, err)
		}
		t.secrets.set(e.obj, data)
		t.retryWaiting()
		t.reconcileAll()
	case configClass:
		t.configs.set(e.obj)
		t.reconcileAll()
	}
	if e.unit != nil {
		e.unit.apply()
	}
	t.markDependents(e)
	return nil
}

// markDependents marks everything that depends on e as dirty.
func (t *table) markDependents(e *entry) {
	t.updateComposites(e)
	if t.entries[e.owner] != nil && classOf(e.owner) == compositeClass {
		t.dirty[e.owner] = true
	}
	for key, other := range t.entries {
		if other.composite.requires(key.Namespace, e.obj) {
			t.dirty[key] = true
		}
	}
}

// setStatus replaces the status of an object, and reports whether it changed.
func (t *table) setStatus(e *entry, status map[string]any) bool {
	s, err := NewObject(status)
	if err != nil {
		t.reportProblem(e.key, fmt.Errorf("cannot take status of %s: %w", e.key, err))
		return false
	}
	if old, _ := fields(e.obj["status"]); len(old)+len(s) == 0 || reflect.DeepEqual(old, map[string]any(s)) {
		return false
	}
	obj := make(Object, len(e.obj)+1)
	for k, v := range e.obj {
		obj[k] = v
	}
	obj["status"] = map[string]any(s)
	e.obj = obj
	t.markDependents(e)
	return true
}

// setReady sets the readiness of an object, and reports changes.
func (t *table) setReady(e *entry, ready bool, message string) {
	if e.readyEmitted && e.ready == ready || !e.readyEmitted && !ready || t.ending {
		return
	}
	e.readyEmitted, e.ready = true, ready
	event := Event{Type: BecameUnready, Object: e.key, Message: message}
	if ready {
		event.Type = BecameReady
	}
	t.emit(event)
}

// remove removes an object after everything that it owns.
func (t *table) remove(key Key) {
	e := t.entries[key]
	if e == nil || e.removing {
		return
	}
	e.removing = true
	for _, child := range sortedKeys(e.children) {
		t.remove(e.children[child])
	}
	t.finishRemoval(e)
}

// finishRemoval continues a removal when the object owns nothing any more.
func (t *table) finishRemoval(e *entry) {
	if len(e.children) > 0 {
		return
	}
	if e.unit == nil {
		t.forget(e)
		return
	}
	e.unit.stop(onRemoval, func() { t.forget(e) })
}

func (t *table) forget(e *entry) {
	if t.entries[e.key] != e {
		return
	}
	t.emit(Event{Type: Removed, Object: e.key})
	delete(t.entries, e.key)
	delete(t.dirty, e.key)
	t.order = slices.DeleteFunc(t.order, func(k Key) bool { return k == e.key })
	switch classOf(e.key) {
	case secretClass:
		t.secrets.remove(e.key)
		t.reconcileAll()
	case configClass:
		t.configs.remove(e.key)
		t.reconcileAll()
	}
	t.markDependents(e)
	owner := t.entries[e.owner]
	if owner == nil {
		return
	}
	delete(owner.children, e.role)
	if owner.removing {
		t.finishRemoval(owner)
	}
}

// retryWaiting retries units that wait for a Secret.
func (t *table) retryWaiting() {
	for _, key := range t.order {
		if w, ok := t.entries[key].unit.(interface{ retry() }); ok {
			w.retry()
		}
	}
}

// reconcileAll reconciles all managed resources, because a Job may have changed one
// of them.
func (t *table) reconcileAll() {
	for _, key := range t.order {
		if m, ok := t.entries[key].unit.(*managedUnit); ok {
			m.reconcileNow()
		}
	}
}

// refreshServices updates the Services of a namespace after a change of pods.
func (t *table) refreshServices(namespace string) {
	for _, key := range t.order {
		if s, ok := t.entries[key].unit.(*service); ok && key.Namespace == namespace {
			s.refresh()
		}
	}
}

// updateComposites updates the composites. It reconciles the managed resource that
// created the composite, or all of them if none did.
func (t *table) updateComposites(e *entry) {
	if classOf(e.key) != compositeClass {
		return
	}
	there := t.entries[e.key] == e
	if there {
		t.composites.set(e)
	} else {
		t.composites.remove(e.key)
	}
	if owner := t.entries[e.owner]; owner != nil {
		if m, ok := owner.unit.(*managedUnit); ok {
			m.reconcileNow()
		}
	}
}
