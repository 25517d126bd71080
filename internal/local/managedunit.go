package local

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/progress"
)

const (
	// callLimit limits one reconciliation of a managed resource.
	callLimit = time.Minute
	// readyFactor multiplies the poll interval of ready resources, because they may
	// be on shared servers.
	readyFactor = 60
	// failingFactor multiplies the poll interval of resources that cannot be observed
	// or do not change.
	failingFactor = 10

	connectionRole = "connection"
	createdRole    = "made " // prefix of the roles of objects that it creates
)

// A managedUnit reconciles one managed resource. Its goroutine polls the external
// resource, which may change without notice.
type managedUnit struct {
	l *Local
	e *entry

	obj      atomic.Pointer[Object] // with the last known status
	requests chan struct{}          // has room for one request to reconcile now
	removing atomic.Bool            // delete the external resource at the end

	watch           specWatch          // the watch
	watched         <-chan struct{}    // closed when the watch of a removed object has ended; nil if it had none
	stopReconciling context.CancelFunc // stops reconciling
	stopDeleting    context.CancelFunc // also stops deleting
	over            bool
	done            []func()
}

func newManagedUnit(l *Local, e *entry) *managedUnit {
	return &managedUnit{l: l, e: e, requests: make(chan struct{}, 1)}
}

func (m *managedUnit) apply() {
	obj := m.e.obj
	m.obj.Store(&obj)
	if m.stopReconciling != nil {
		m.watch.begin(m)
		m.reconcileNow()
		return
	}
	life, stopDeleting := context.WithCancel(m.l.ctx)
	watch, stopReconciling := context.WithCancel(life)
	m.stopDeleting, m.stopReconciling = stopDeleting, stopReconciling
	m.watch.ctx = watch
	m.watch.begin(m)
	m.l.runners.Go(func() {
		defer stopDeleting()
		m.reconcileLoop(watch)
		if m.removing.Load() && allows(*m.obj.Load(), "Delete") {
			m.delete(life)
		}
		m.l.post(func() {
			m.over = true
			m.finish()
		})
	})
}

// reconcileNow requests a reconciliation without waiting for the next poll.
func (m *managedUnit) reconcileNow() {
	select {
	case m.requests <- struct{}{}:
	default: // already requested
	}
}

// reconcileLoop reconciles until ctx ends.
func (m *managedUnit) reconcileLoop(ctx context.Context) {
	poll := m.l.cfg.Poll
	wait := poll
	var last Observation
	failed, polled := 0, true
	for {
		obs, err := m.reconcile(ctx, *m.obj.Load())
		if ctx.Err() != nil {
			return
		}
		switch {
		case !fault.Is(err, fault.Transient) && !fault.Is(err, fault.Denied):
			failed = 0
		case polled:
			failed++
		}
		giveUp := m.l.cfg.Tries > 0 && failed >= m.l.cfg.Tries
		m.l.post(func() { m.report(obs, err, giveUp) })
		switch {
		case err == nil && obs.Ready:
			wait = readyFactor * poll
		case err != nil, reflect.DeepEqual(obs, last):
			wait = min(2*wait, failingFactor*poll)
		default:
			wait = poll
		}
		last = obs
		next := time.NewTimer(wait)
		polled = false
		select {
		case <-next.C:
			polled = true
		case <-m.requests:
			wait = poll
		case <-ctx.Done():
		}
		next.Stop()
	}
}

// reconcile brings the external resource to its spec, as far as the management
// policies allow.
func (m *managedUnit) reconcile(ctx context.Context, obj Object) (Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	managed := m.l.cfg.Managed
	obs, err := managed.Observe(ctx, obj)
	if err != nil {
		return obs, err
	}
	switch {
	case !obs.Exists && allows(obj, "Create"):
		err = managed.Create(ctx, obj)
	case obs.Exists && !obs.UpToDate && allows(obj, "Update"):
		err = managed.Update(ctx, obj)
	default:
		return obs, nil
	}
	if err != nil {
		return obs, err
	}
	return managed.Observe(ctx, obj)
}

// allows reports whether the object's management policies allow an action.
func allows(obj Object, action string) bool {
	var policies []string
	if err := obj.Decode(&policies, "spec", "managementPolicies"); err != nil {
		return false
	}
	return len(policies) == 0 || slices.Contains(policies, "*") || slices.Contains(policies, action)
}

// delete deletes the external resource, and retries until it succeeds or ctx ends.
func (m *managedUnit) delete(ctx context.Context) {
	if m.watched != nil {
		<-m.watched // it must not use the connection again
	}
	for wait := m.l.cfg.Poll; ctx.Err() == nil; wait = min(2*wait, failingFactor*m.l.cfg.Poll) {
		call, cancel := context.WithTimeout(ctx, callLimit)
		err := m.l.cfg.Managed.Delete(call, *m.obj.Load())
		cancel()
		if err == nil {
			return
		}
		m.l.post(func() { m.l.table.reportProblem(m.e.key, fmt.Errorf("cannot delete %s: %w", m.e.key, err)) })
		retry := time.NewTimer(wait)
		select {
		case <-retry.C:
		case <-ctx.Done():
		}
		retry.Stop()
	}
}

// report writes the status and the connection Secret.
func (m *managedUnit) report(obs Observation, err error, giveUp bool) {
	if m.e.removing {
		return
	}
	if err == nil {
		err = errors.Join(m.connect(obs.Connection), m.applyObjects(obs.Objects))
	}
	m.e.blocked, m.e.gaveUp = "", giveUp
	if giveUp || fault.Is(err, fault.Unsupported) { // no event on this machine can change that
		m.e.blocked = err.Error()
	}
	old, _ := fields(m.e.obj["status"])
	status := map[string]any{}
	if len(obs.Status) > 0 {
		status["atProvider"] = obs.Status
	}
	ready := Condition{Type: Ready, Status: True, Reason: "Available"}
	synced := Condition{Type: Synced, Status: True, Reason: "ReconcileSuccess"}
	switch {
	case err != nil:
		delete(status, "atProvider")
		if last, ok := old["atProvider"]; ok {
			status["atProvider"] = last
		}
		ready = condition(m.e.obj, Ready)
		if ready.Type == "" {
			ready = Condition{Type: Ready, Status: False, Reason: "Creating"}
		}
		synced = Condition{Type: Synced, Status: False, Reason: "ReconcileError", Message: err.Error()}
	case !obs.Exists:
		ready = Condition{Type: Ready, Status: False, Reason: "Creating", Message: obs.Message}
	case !obs.Ready:
		ready = Condition{Type: Ready, Status: False, Reason: "Unavailable", Message: obs.Message}
	}
	status["conditions"] = withTransitionTimes([]Condition{ready, synced}, old["conditions"])
	m.l.table.setStatus(m.e, status)
	obj := m.e.obj
	m.obj.Store(&obj)
	m.l.table.setReady(m.e, ready.Status == True, ready.Message)
	m.l.table.reportProblemOnce(m.e, err)
	m.tellProgress()
}

// connect writes the connection Secret.
func (m *managedUnit) connect(connection map[string][]byte) error {
	name := text(m.e.obj, "spec", "writeConnectionSecretToRef", "name")
	if name == "" || len(connection) == 0 {
		return nil
	}
	secret, err := secretObject(Key{APIVersion: "v1", Kind: "Secret", Namespace: m.e.key.Namespace, Name: name}, connection)
	if err != nil {
		return err
	}
	return m.l.table.apply(secret, m.e.key, connectionRole)
}

// applyObjects creates the wanted objects, and removes others.
func (m *managedUnit) applyObjects(objects []Object) error {
	var errs []error
	wanted := map[string]bool{}
	for _, o := range objects {
		obj, err := NewObject(o)
		if err != nil {
			return err
		}
		role := createdRole + obj.Key().String()
		wanted[role] = true
		errs = append(errs, m.l.table.apply(obj, m.e.key, role))
	}
	for _, role := range sortedKeys(m.e.children) {
		if strings.HasPrefix(role, createdRole) && !wanted[role] {
			m.l.table.remove(m.e.children[role])
		}
	}
	return errors.Join(errs...)
}

func (m *managedUnit) tellProgress() {
	var report progress.Report
	if err := m.e.obj.Decode(&report, "status", "atProvider", "progress"); err != nil || report == m.e.progress {
		return
	}
	m.e.progress = report
	m.l.table.emit(Event{Type: ProgressMade, Object: m.e.key, Progress: report})
}

func (m *managedUnit) stop(reason stopReason, done func()) {
	m.done = append(m.done, done)
	if reason == onRemoval {
		if !m.removing.Load() {
			m.watched = m.watch.over
			m.removing.Store(true)
		}
		m.stopReconciling()
	} else {
		m.stopDeleting()
	}
	m.finish()
}

func (m *managedUnit) finish() {
	if !m.over {
		return
	}
	for _, done := range m.done {
		done()
	}
	m.done = nil
}
