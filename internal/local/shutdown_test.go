package local

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/test/waittest"
)

func TestFrontStopsBeforeBack(t *testing.T) {
	dir := t.TempDir()
	front := deployment("web", 1, server())
	back := deployment("back", 1, container("main", "sleep"))
	stuck := jobOf("stuck", nil, container("main", "stubborn", filepath.Join(dir, "deaf")))
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		c, err := compose(back, front, stuck, serviceOf("web", 80))(xr, observed, nil)
		c.Ready["job-stuck"] = true
		return c, err
	}), func(c *Config) {
		c.Ports = map[string]int{"web:80": 0}
		c.Grace = 100 * time.Millisecond
	})
	w.settle()
	waittest.Until(t, "the job is deaf", func() bool { _, err := os.Stat(filepath.Join(dir, "deaf")); return err == nil })
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, e := range w.told(func(e Event) bool { return e.Type == ProcessEnded || e.Type == Stopping || e.Type == Stopped }) {
		order = append(order, string(e.Type)+" "+e.Object.Name)
	}
	if len(order) != 5 {
		t.Fatalf("order %v", order)
	}
	slices.Sort(order[2:4]) // these two stop together
	want := []string{"Stopping ", "ProcessEnded web", "ProcessEnded back", "ProcessEnded stuck", "Stopped "}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
}

func TestRemovedJobIsEnded(t *testing.T) {
	j := jobOf("j", nil, container("main", "sleep"))
	started := false // used only by the goroutine of Run
	w := run(t, composerFunc(func(_ Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		if started {
			return Composed{}, nil
		}
		return Composed{Desired: map[string]Object{"j": j}, Ready: map[string]bool{"j": false}}, nil
	}))
	pid := w.await("start", of(ProcessStarted, j.Key())).PID
	w.look(func() {
		started = true
		w.table.dirty[xr("a").Key()] = true
	})
	w.await("removal", of(Removed, j.Key()))
	if processtest.Alive(pid) {
		t.Error("the process is still there")
	}
	if told := w.told(of(JobEnded, j.Key())); len(told) != 0 {
		t.Errorf("a JobEnded event for a removed Job: %+v", told)
	}
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
}
