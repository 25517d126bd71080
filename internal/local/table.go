package local

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/gorizond/koldun/internal/fault"
)

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
func (l *Local) apply(desired Object, owner Key, role string) error {
	key := desired.Key()
	e := l.table[key]
	switch {
	case e == nil:
		return l.add(desired, owner, role)
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
	return l.onChange(e)
}

func (l *Local) add(desired Object, owner Key, role string) error {
	e := &entry{key: desired.Key(), desired: desired, owner: owner, role: role, children: map[string]Key{}}
	e.obj = desired.clone()
	delete(e.obj, "status")
	meta, ok := fields(e.obj["metadata"])
	if !ok {
		return fault.Errorf(fault.Invalid, "cannot have %s: it has no metadata", e.key)
	}
	meta["generation"] = float64(1)
	l.table[e.key] = e
	l.order = append(l.order, e.key)
	if o := l.table[owner]; o != nil {
		o.children[role] = e.key
	}
	l.emit(Event{Type: Added, Object: e.key})
	switch classOf(e.key) {
	case managedClass:
		e.unit = newManagedUnit(l, e)
	case workloadClass:
		e.unit = &workload{l: l, e: e, pods: map[string]*podRun{}}
	case jobClass:
		e.unit = &job{l: l, e: e}
	case serviceClass:
		e.unit = &service{l: l, e: e}
	case foreignClass:
		l.emit(Event{Type: NotRunHere, Object: e.key, Message: "koldun up does not run the kind " + e.key.Kind})
	}
	return l.onChange(e)
}

// follow handles a new or changed object.
func (l *Local) onChange(e *entry) error {
	switch classOf(e.key) {
	case compositeClass:
		l.dirty[e.key] = true
	case secretClass:
		data, err := secretData(e.obj)
		if err != nil {
			return fmt.Errorf("cannot use %s: %w", e.key, err)
		}
		l.secrets.set(e.obj, data)
		l.retryWaiting()
		l.reconcileAll()
	case configClass:
		l.configs.set(e.obj)
		l.reconcileAll()
	}
	if e.unit != nil {
		e.unit.apply()
	}
	l.markDependents(e)
	return nil
}

// markDependents marks everything that depends on e as dirty.
func (l *Local) markDependents(e *entry) {
	l.updateComposites(e)
	if l.table[e.owner] != nil && classOf(e.owner) == compositeClass {
		l.dirty[e.owner] = true
	}
	for key, other := range l.table {
		if other.composite.requires(key.Namespace, e.obj) {
			l.dirty[key] = true
		}
	}
}

// setStatus replaces the status of an object, and reports whether it changed.
func (l *Local) setStatus(e *entry, status map[string]any) bool {
	s, err := NewObject(status)
	if err != nil {
		l.reportProblem(e.key, fmt.Errorf("cannot take status of %s: %w", e.key, err))
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
	l.markDependents(e)
	return true
}

// setReady sets the readiness of an object, and reports changes.
func (l *Local) setReady(e *entry, ready bool, message string) {
	if e.readyEmitted && e.ready == ready || !e.readyEmitted && !ready || l.ending {
		return
	}
	e.readyEmitted, e.ready = true, ready
	event := Event{Type: BecameUnready, Object: e.key, Message: message}
	if ready {
		event.Type = BecameReady
	}
	l.emit(event)
}

// remove removes an object after everything that it owns.
func (l *Local) remove(key Key) {
	e := l.table[key]
	if e == nil || e.removing {
		return
	}
	e.removing = true
	for _, child := range sortedKeys(e.children) {
		l.remove(e.children[child])
	}
	l.finishRemoval(e)
}

// finishRemoval continues a removal when the object owns nothing any more.
func (l *Local) finishRemoval(e *entry) {
	if len(e.children) > 0 {
		return
	}
	if e.unit == nil {
		l.forget(e)
		return
	}
	e.unit.stop(onRemoval, func() { l.forget(e) })
}

func (l *Local) forget(e *entry) {
	if l.table[e.key] != e {
		return
	}
	l.emit(Event{Type: Removed, Object: e.key})
	delete(l.table, e.key)
	delete(l.dirty, e.key)
	l.order = slices.DeleteFunc(l.order, func(k Key) bool { return k == e.key })
	switch classOf(e.key) {
	case secretClass:
		l.secrets.remove(e.key)
		l.reconcileAll()
	case configClass:
		l.configs.remove(e.key)
		l.reconcileAll()
	}
	l.markDependents(e)
	owner := l.table[e.owner]
	if owner == nil {
		return
	}
	delete(owner.children, e.role)
	if owner.removing {
		l.finishRemoval(owner)
	}
}

// retryWaiting retries units that wait for a Secret.
func (l *Local) retryWaiting() {
	for _, key := range l.order {
		if w, ok := l.table[key].unit.(interface{ retry() }); ok {
			w.retry()
		}
	}
}
