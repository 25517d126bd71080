package local

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

func TestObjectOfAnotherOwnerIsNotTaken(t *testing.T) {
	shared := managedOf("s", "1", nil)
	w := run(t, compose(shared), func(c *Config) { c.Claims = append(c.Claims, xr("b")) })
	w.settle()
	roots, err := w.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, second := roots[0], roots[1]
	if !first.Ready {
		t.Errorf("first = %+v", first)
	}
	want := "Dllama default/b: cannot have Stream default/s: it belongs to Dllama default/a"
	if !second.Failed || second.Message != want {
		t.Errorf("second: failed %v, %q, want %q", second.Failed, second.Message, want)
	}
	if got := condition(second.Object, Synced); got.Status != False {
		t.Errorf("Synced = %+v", got)
	}
}

func TestJobDoesNotChange(t *testing.T) {
	var changed atomic.Bool
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		arg := "0"
		if changed.Load() {
			arg = "1"
		}
		c, err := compose(jobOf("j", nil, container("main", "sleep", arg)))(xr, observed, nil)
		return c, err
	}))
	w.await("start", of(ProcessStarted, jobOf("j", nil).Key()))
	changed.Store(true)
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	if r := w.settle(); !r.Failed || !strings.Contains(r.Message, "cannot change Job default/j: the spec of a Job does not change") {
		t.Errorf("root = %+v", r)
	}
}

func TestObjectWithAnotherNameReplacesTheFirst(t *testing.T) {
	var name atomic.Value
	name.Store("one")
	things := &fakeManaged{}
	w := run(t, composerFunc(func(Object, map[string]Object, map[string][]Object) (Composed, error) {
		return Composed{Desired: map[string]Object{"stream": managedOf(name.Load().(string), "1", nil)}}, nil
	}), func(c *Config) { c.Managed = things })
	w.settle()
	name.Store("two")
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	w.await("removal", of(Removed, managedOf("one", "", nil).Key()))
	w.await("ready", of(BecameReady, managedOf("two", "", nil).Key()))
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
	waittest.Until(t, "only the second is there", func() (only bool) {
		things.set(func() { only = len(things.things) == 1 && things.things["two"] == "1" })
		return only
	})
}

func TestDeletionIsTriedAgain(t *testing.T) {
	var gone atomic.Bool
	things := &fakeManaged{}
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		if gone.Load() {
			return Composed{}, nil
		}
		return compose(managedOf("s", "1", nil))(xr, observed, nil)
	}), func(c *Config) { c.Managed = things })
	w.settle()
	things.set(func() { things.keeps = fault.Errorf(fault.Transient, "busy") })
	gone.Store(true)
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	w.awaitNth(2, "trouble twice", func(e Event) bool {
		return e.Type == Problem && e.Message == "cannot delete Stream default/s: busy"
	})
	things.set(func() { things.keeps = nil })
	w.await("removal", of(Removed, managedOf("s", "", nil).Key()))
}

func TestDeletionDoesNotHoldUpTheEnd(t *testing.T) {
	var gone atomic.Bool
	things := &fakeManaged{keeps: fault.Errorf(fault.Transient, "busy")}
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		if gone.Load() {
			return Composed{}, nil
		}
		return compose(managedOf("s", "1", nil))(xr, observed, nil)
	}), func(c *Config) { c.Managed = things })
	w.settle()
	gone.Store(true)
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	w.await("trouble", func(e Event) bool { return e.Type == Problem })
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestJobWaitsForSecret(t *testing.T) {
	j := jobOf("j", nil, with(container("main", "exit", "0", ""), map[string]any{
		"envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "conn"}}},
	}))
	things := &fakeManaged{fails: fault.Errorf(fault.Transient, "not yet")}
	s := managedOf("s", "1", map[string]any{"writeConnectionSecretToRef": map[string]any{"name": "conn"}})
	w := run(t, compose(j, s), func(c *Config) { c.Managed = things })
	told := w.await("trouble", of(Problem, j.Key()))
	if told.Message != `there is no Secret "conn" yet` {
		t.Errorf("message %q", told.Message)
	}
	things.set(func() { things.fails = nil })
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
}
