package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/process/processtest"
	"github.com/gorizond/koldun/test/waittest"
)

func TestJobIsRetried(t *testing.T) {
	j := jobOf("j", nil, with(container("main", "fail-times", "1"), map[string]any{
		"volumeMounts": []any{map[string]any{"name": "data"}},
	}))
	w := run(t, compose(j))
	if r := w.settle(); !r.Ready {
		t.Fatalf("root is not ready: %+v", r)
	}
	status := w.object(j.Key())["status"]
	if got := []any{get(status, "succeeded"), get(status, "failed"), get(status, "active")}; !cmp.Equal(got, []any{1.0, 1.0, nil}) {
		t.Errorf("succeeded, failed, active = %v", got)
	}
	w.await("trouble that tells the last words", func(e Event) bool {
		return e.Type == Problem && strings.Contains(e.Message, "status 75: cannot do it, attempt 1; trying again")
	})
	if end := w.await("end", of(JobEnded, j.Key())); end.Failed {
		t.Errorf("job failed: %s", end.Message)
	}
	logged, err := os.ReadFile(filepath.Join(w.dir, "data", "logs", "j", "main.log.1"))
	if err != nil || string(logged) != "cannot do it, attempt 1\n" {
		t.Errorf("log of the first attempt: %q, %v", logged, err)
	}
}

func TestJobFailsForGood(t *testing.T) {
	policy := map[string]any{"rules": []any{map[string]any{
		"action":      "FailJob",
		"onExitCodes": map[string]any{"containerName": "main", "operator": "In", "values": []any{12}},
	}}}
	cases := map[string]struct {
		spec    map[string]any
		args    []string
		reason  string
		message string
		failed  float64
	}{
		"Policy": {
			map[string]any{"podFailurePolicy": policy}, []string{"exit", "12", "no such model"},
			"PodFailurePolicy", `container "main" exited with status 12: no such model`, 1,
		},
		"Limit": {
			map[string]any{"podFailurePolicy": policy, "backoffLimit": 1}, []string{"exit", "3", "bad luck"},
			"BackoffLimitExceeded", `gave up after 2 attempts: container "main" exited with status 3: bad luck`, 2,
		},
		"Deadline": {
			map[string]any{"activeDeadlineSeconds": 1}, []string{"sleep"},
			"DeadlineExceeded", "it ran longer than its activeDeadlineSeconds allow", 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := jobOf("j", c.spec, container("main", c.args...))
			w := run(t, compose(j))
			end := w.await("end", of(JobEnded, j.Key()))
			if !end.Failed || end.Message != c.message {
				t.Errorf("end = %v %q", end.Failed, end.Message)
			}
			o := w.object(j.Key())
			if got := condition(o, "Failed"); got.Status != True || got.Reason != c.reason || got.Message != c.message {
				t.Errorf("condition = %+v", got)
			}
			if got := get(o, "status", "failed"); got != c.failed {
				t.Errorf("failed = %v, want %v", got, c.failed)
			}
		})
	}
}

func TestInitContainersRunFirst(t *testing.T) {
	out := t.TempDir()
	j := must(map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "j", "namespace": "default"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"initContainers": []any{container("one", "write", filepath.Join(out, "one"), "1")},
			"containers":     []any{container("two", "write", filepath.Join(out, "two"), "2")},
		}}},
	})
	w := run(t, compose(j))
	w.settle()
	started := w.told(of(ProcessStarted, j.Key()))
	if len(started) != 2 || started[0].Container != "one" || started[1].Container != "two" {
		t.Errorf("started %+v", started)
	}
	if _, err := os.Stat(filepath.Join(out, "two")); err != nil {
		t.Error(err)
	}
}

func TestKilledChildIsRestarted(t *testing.T) {
	d := deployment("d", 1, container("main", "sleep"))
	w := run(t, compose(d))
	w.settle()
	pid := w.await("start", of(ProcessStarted, d.Key())).PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended := w.await("end", of(ProcessEnded, d.Key()))
	if ended.RestartIn == 0 || !strings.Contains(ended.Message, "killed") {
		t.Errorf("end = %+v", ended)
	}
	again := w.awaitNth(2, "second start", of(ProcessStarted, d.Key()))
	if again.PID == pid {
		t.Error("same process id")
	}
	w.awaitNth(2, "ready again", of(BecameReady, d.Key()))
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if processtest.Alive(again.PID) {
		t.Error("the process is still there after Run")
	}
}

func TestReadinessFollowsProbe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ready")
	d := deployment("d", 1, with(server(file), map[string]any{
		"startupProbe": map[string]any{"httpGet": map[string]any{"path": "/", "port": 8080}},
	}))
	w := run(t, compose(d))
	waittest.Until(t, "the reason is told", func() bool {
		return strings.Contains(condition(w.object(d.Key()), "Available").Message, "503 Service Unavailable: waiting for the file")
	})
	if got := get(w.object(d.Key()), "status", "readyReplicas"); got != 0.0 {
		t.Errorf("readyReplicas = %v before", got)
	}
	if got := condition(w.object(xr("a").Key()), Ready); got.Status != False || got.Message != "Unready resources: deployment-d" {
		t.Errorf("composite's Ready = %+v", got)
	}
	touch(file, "")
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
	if got := get(w.object(d.Key()), "status", "readyReplicas"); got != 1.0 {
		t.Errorf("readyReplicas = %v after", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.await("unready", of(BecameUnready, d.Key()))
}

func TestUnhealthyProcessIsReplaced(t *testing.T) {
	d := deployment("d", 1, with(container("main", "sleep"), map[string]any{
		"ports": []any{map[string]any{"name": "http", "containerPort": 1}},
		"livenessProbe": map[string]any{
			"httpGet": map[string]any{"path": "/", "port": "http"}, "periodSeconds": 1, "failureThreshold": 1,
		},
	}))
	w := run(t, compose(d))
	ended := w.await("end", of(ProcessEnded, d.Key()))
	if !strings.Contains(ended.Message, "it is not alive") {
		t.Errorf("end = %+v", ended)
	}
	w.awaitNth(2, "second start", of(ProcessStarted, d.Key()))
}

func TestRecomposeOnChange(t *testing.T) {
	// When the Job is complete, the Deployment appears and the Job disappears,
	// like those of a Model.
	j := jobOf("j", nil, container("main", "exit", "0", ""))
	d := deployment("d", 1, container("main", "sleep"))
	var composed atomic.Int32
	w := run(t, composerFunc(func(_ Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		composed.Add(1)
		if observed["d"] != nil || condition(observed["j"], "Complete").Status == True {
			return Composed{
				Desired:    map[string]Object{"d": d},
				Ready:      map[string]bool{"d": condition(observed["d"], "Available").Status == True},
				Status:     map[string]any{"url": "http://x"},
				Conditions: []Condition{{Type: Serving, Status: True, Reason: "Available"}},
			}, nil
		}
		return Composed{
			Desired: map[string]Object{"j": j}, Ready: map[string]bool{"j": false},
			Conditions: []Condition{{Type: Serving, Status: False, Reason: "Downloading", Message: "wait"}},
		}, nil
	}))
	r := w.settle()
	if !r.Ready || r.Reason != "Available" || text(r.Object, "status", "url") != "http://x" {
		t.Errorf("root = %+v", r)
	}
	w.await("Downloading", func(e Event) bool { return e.Type == ConditionChanged && e.Condition.Reason == "Downloading" })
	w.await("job's removal", of(Removed, j.Key()))
	if o := w.object(j.Key()); o != nil {
		t.Errorf("the job is still there: %v", o)
	}
	before := composed.Load()
	for range 100 {
		w.look(func() {})
	}
	if n := composed.Load() - before; n > 3 {
		t.Errorf("%d compositions although nothing happens", n)
	}
}

func TestFailingInitContainerIsTold(t *testing.T) {
	d := deployment("d", 1, container("main", "sleep"))
	spec, _ := at(d, "spec", "template", "spec")
	spec.(map[string]any)["initContainers"] = []any{container("init", "exit", "12", "no such model")}
	w := run(t, compose(d))
	w.awaitNth(2, "the init container ends twice", func(e Event) bool {
		return e.Type == ProcessEnded && e.Container == "init" && e.RestartIn > 0 && strings.Contains(e.Message, "no such model")
	})
	want := `pod "d-0": container "main" waits: container "init" exited with status 12: no such model`
	if got := condition(w.object(d.Key()), "Available").Message; got != want {
		t.Errorf("message %s\nwant    %s", got, want)
	}
	if n := len(w.told(func(e Event) bool { return e.Type == ProcessStarted && e.Container == "main" })); n != 0 {
		t.Error("the container has started")
	}
}

func TestWarningsAreToldOnce(t *testing.T) {
	d := deployment("d", 1, server())
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		c, err := compose(d)(xr, observed, nil)
		c.Results = []Result{{Severity: Warning, Message: "careful"}, {Severity: Normal, Message: "fine"}}
		return c, err
	}))
	w.settle()
	if told := w.told(of(Problem, xr("a").Key())); len(told) != 1 || told[0].Message != "careful" {
		t.Errorf("events %+v", told)
	}
}

func TestOnlySecretsAreDecidedAtOnce(t *testing.T) {
	secret := must(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}})
	w := run(t, compose(), func(c *Config) { c.Claims = []Object{secret} })
	if roots, err := w.Wait(t.Context()); err != nil || len(roots) != 0 {
		t.Errorf("roots %v, %v", roots, err)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if _, err := w.Wait(t.Context()); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Wait after the end: %v", err)
	}
}

func TestOpenDataClearsWhatIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for i := range 3 {
		d, err := OpenData(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"run/p/secret", "logs/p/c.log", "volumes/v/kept"} {
			_, err := os.Stat(d.Path(path))
			if stays := i > 0 && strings.HasPrefix(path, "volumes"); (err == nil) != stays {
				t.Errorf("start %d: %s: %v", i, path, err)
			}
			if err := os.MkdirAll(filepath.Dir(d.Path(path)), 0o700); err != nil {
				t.Fatal(err)
			}
			touch(d.Path(path), "")
		}
		if _, err := os.Stat(d.Path("logs.previous", "p", "c.log")); (err == nil) != (i > 0) {
			t.Errorf("start %d: the logs of the run before: %v", i, err)
		}
		_, err = OpenData(dir)
		if want := fmt.Sprintf("cannot use data folder %q: process %d uses it; stop it, or choose another data folder", dir, os.Getpid()); err == nil || err.Error() != want || !fault.Is(err, fault.Conflict) {
			t.Errorf("second owner: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenData("/proc/none"); err == nil || !strings.HasPrefix(err.Error(), "cannot make data folder: ") {
		t.Errorf("error = %v", err)
	}
}

// changing runs a workload whose template has different arguments in each generation.
func changing(t *testing.T, build func(generation int) Object) (w *harness, next func()) {
	t.Helper()
	var generation atomic.Int32
	w = run(t, composerFunc(func(_ Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		return compose(build(int(generation.Load())))(nil, observed, nil)
	}))
	w.settle()
	return w, func() {
		generation.Add(1)
		w.look(func() { w.table.dirty[xr("a").Key()] = true })
	}
}

func TestDeploymentStartsTheNewPodBeforeItStopsTheOldOne(t *testing.T) {
	build := func(generation int) Object {
		return deployment("d", 1, container("main", "sleep", strconv.Itoa(generation)))
	}
	w, next := changing(t, build)
	k := build(0).Key()
	first := w.await("start", of(ProcessStarted, k)).PID
	next()
	second := w.awaitNth(2, "second start", of(ProcessStarted, k))
	w.await("end of the first", func(e Event) bool { return e.Type == ProcessEnded && e.Object == k && e.Pod == "d-0" })
	started := slices.IndexFunc(w.told(func(Event) bool { return true }), func(e Event) bool { return e.Type == ProcessStarted && e.PID == second.PID })
	ended := slices.IndexFunc(w.told(func(Event) bool { return true }), func(e Event) bool { return e.Type == ProcessEnded && e.Pod == "d-0" })
	if started > ended {
		t.Error("the first pod ended before the second began")
	}
	waittest.Until(t, "the end of the first pod", func() bool { return !processtest.Alive(first) })
	if n := len(w.told(func(e Event) bool { return e.Type == BecameUnready && e.Object == k })); n != 0 {
		t.Errorf("the Deployment became unready %d times", n)
	}
	if got := get(w.object(k), "metadata", "generation"); got != 2.0 {
		t.Errorf("generation = %v", got)
	}
	next()
	w.awaitNth(3, "third start", of(ProcessStarted, k))
	waittest.Until(t, "one pod in the end", func() bool { return get(w.object(k), "status", "replicas") == 1.0 })
}

func TestStatefulSetStopsTheOldPodFirst(t *testing.T) {
	build := func(generation int) Object {
		o := deployment("s", 1, container("main", "sleep", strconv.Itoa(generation)))
		o["kind"] = "StatefulSet"
		return o
	}
	w, next := changing(t, build)
	k := build(0).Key()
	first := w.await("start", of(ProcessStarted, k)).PID
	next()
	second := w.awaitNth(2, "second start", of(ProcessStarted, k))
	if processtest.Alive(first) {
		t.Error("the first pod still runs")
	}
	if second.Pod != "s-0" {
		t.Errorf("pod = %q", second.Pod)
	}
}

func TestApplyExchangesClaims(t *testing.T) {
	w := run(t, compose(deployment("d", 1, container("main", "sleep"))))
	w.settle()
	secret := func(value string) Object {
		return must(map[string]any{
			"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"k": value},
			"metadata": map[string]any{"name": "s", "namespace": "default", "labels": map[string]any{"l": "v"}},
		})
	}
	known := func() (string, bool) {
		for _, s := range w.Secrets("default") {
			if s.Name == "s" && s.Labels["l"] == "v" {
				return string(s.Data["k"]), true
			}
		}
		return "", false
	}
	for _, value := range []string{"one", "two"} {
		if err := w.Apply([]Object{xr("a"), secret(value)}); err != nil {
			t.Fatal(err)
		}
		if got, ok := known(); !ok || got != value {
			t.Errorf("the Secret has %q, want %q", got, value)
		}
	}
	if err := w.Apply([]Object{xr("a"), xr("a")}); !fault.Is(err, fault.Invalid) {
		t.Errorf("duplicate claims: %v", err)
	}
	if _, ok := known(); !ok {
		t.Error("rejected claims cause a change")
	}
	if err := w.Apply([]Object{secret("three")}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the composite to go", func() bool { return w.object(xr("a").Key()) == nil })
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if err := w.Apply([]Object{xr("a")}); !fault.Is(err, fault.Interrupted) {
		t.Errorf("after the end: %v", err)
	}
}

// watchedManaged reports each change of an external resource by its name. Its first
// watch fails.
type watchedManaged struct {
	fakeManaged
	failed  atomic.Bool
	changed chan func()
}

func (f *watchedManaged) Watch(ctx context.Context, _ Object, changed func()) error {
	if !f.failed.Swap(true) {
		return fault.Errorf(fault.Transient, "the server is away")
	}
	select {
	case f.changed <- changed:
	case <-ctx.Done():
	}
	<-ctx.Done()
	return nil
}

func TestAWatchedThingIsLookedAtAtOnce(t *testing.T) {
	managed := &watchedManaged{changed: make(chan func())}
	thing := managedOf("m", "1", nil)
	w := run(t, compose(thing), func(c *Config) { c.Managed, c.Poll, c.WatchAgain = managed, time.Hour, time.Millisecond })
	changed := waittest.Receive(t, "it is watched", managed.changed)
	w.await("ready", of(BecameReady, thing.Key()))
	managed.set(func() { managed.unready = map[string]bool{"m": true} })
	changed() // the next poll is hours away
	w.await("unready", of(BecameUnready, thing.Key()))
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

// lateManaged fails to watch three times, and ends its last watch late.
type lateManaged struct {
	fakeManaged
	watches  atomic.Int32
	watching chan struct{}
	deleted  chan struct{}
	early    atomic.Bool // Delete was called during the watch
}

func (f *lateManaged) Watch(ctx context.Context, _ Object, _ func()) error {
	if f.watches.Add(1) < 4 {
		return fault.Errorf(fault.Denied, "no permission to watch")
	}
	close(f.watching)
	<-ctx.Done()
	select {
	case <-f.deleted:
		f.early.Store(true)
	case <-time.After(100 * time.Millisecond):
	}
	return nil
}

func (f *lateManaged) Delete(ctx context.Context, o Object) error {
	close(f.deleted)
	return f.fakeManaged.Delete(ctx, o)
}

// A watch that fails again is reported once, and an object is deleted after its
// watch has ended: a watch binds a connection, which the deletion releases.
func TestWatchEndsBeforeTheDeletion(t *testing.T) {
	managed := &lateManaged{watching: make(chan struct{}), deleted: make(chan struct{})}
	thing := managedOf("m", "1", nil)
	only := composerFunc(func(xr Object, observed map[string]Object, required map[string][]Object) (Composed, error) {
		if xr.Key().Name == "b" {
			return Composed{}, nil
		}
		return compose(thing)(xr, observed, required)
	})
	w := run(t, only, func(c *Config) { c.Managed, c.WatchAgain = managed, time.Millisecond })
	waittest.Receive(t, "it is watched", managed.watching)
	if r := w.settle(); !r.Ready {
		t.Fatalf("root = %+v", r)
	}
	if told := w.told(of(Problem, thing.Key())); len(told) != 1 {
		t.Errorf("three equal errors of the watch are reported %d times", len(told))
	}
	if err := w.Apply([]Object{xr("b")}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the deletion", func() bool { return slices.Contains(managed.did(), "delete m") })
	if managed.early.Load() {
		t.Error("the object was deleted while it was watched")
	}
}

// A resource whose server stays out of reach fails its claim after Tries polls;
// another error is tried again for ever.
func TestFailsAfterTries(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Transient, fault.Denied} {
		managed := &fakeManaged{fails: fault.Errorf(kind, "cannot connect to nats://x")}
		thing := managedOf("m", "1", nil)
		w := run(t, compose(thing), func(c *Config) { c.Managed, c.Poll, c.Tries = managed, time.Millisecond, 3 })
		if r := w.settle(); !r.Failed || r.Reason != "ReconcileError" || r.Message != thing.Key().String()+": cannot connect to nats://x" {
			t.Errorf("%s: root = %+v", kind, r)
		}
		managed.set(func() { managed.fails = nil })
		w.await("ready", of(BecameReady, thing.Key()))
	}
	managed := &triedManaged{tried: make(chan struct{})}
	w := run(t, compose(managedOf("m", "1", nil)), func(c *Config) { c.Managed, c.Poll, c.Tries = managed, time.Millisecond, 3 })
	waittest.Receive(t, "ten tries", managed.tried)
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
}

// triedManaged misses another object ten times.
type triedManaged struct {
	fakeManaged
	tries atomic.Int32
	tried chan struct{}
}

func (f *triedManaged) Observe(ctx context.Context, o Object) (Observation, error) {
	if n := f.tries.Add(1); n < 10 {
		return Observation{}, fault.Errorf(fault.NotFound, "the Secret does not exist yet")
	} else if n == 10 {
		close(f.tried)
	}
	return f.fakeManaged.Observe(ctx, o)
}

func TestNestedCompositesAndRemoval(t *testing.T) {
	inner := must(map[string]any{
		"apiVersion": CompositeGroup + "/v1", "kind": "Model", "spec": map[string]any{},
	})
	stream := managedOf("s", "1", nil)
	kept := managedOf("kept", "1", map[string]any{"managementPolicies": []any{"Observe", "Create"}})
	d := deployment("d", 1, container("main", "sleep"))
	var gone atomic.Bool
	things := &fakeManaged{}
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, required map[string][]Object) (Composed, error) {
		if xr.Key().Kind == "Model" {
			return compose(stream, kept, d)(xr, observed, required)
		}
		if gone.Load() {
			return Composed{}, nil
		}
		return Composed{Desired: map[string]Object{"model": inner}}, nil
	}), func(c *Config) { c.Managed = things })
	if r := w.settle(); !r.Ready {
		t.Fatalf("root = %+v", r)
	}
	model := Key{CompositeGroup + "/v1", "Model", "default", "a-model"}
	if o := w.object(model); condition(o, Ready).Status != True || condition(o, Synced).Status != True {
		t.Errorf("model = %v", o)
	}
	pid := w.await("start", of(ProcessStarted, d.Key())).PID

	gone.Store(true)
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	w.await("removal", of(Removed, model))
	if processtest.Alive(pid) {
		t.Error("the composite is gone before its process")
	}
	w.look(func() {
		if len(w.table.entries) != 1 {
			t.Errorf("%d objects are left", len(w.table.entries))
		}
	})
	if diff := cmp.Diff([]string{"create kept", "create s", "delete s"}, sorted(things.did())); diff != "" {
		t.Error(diff)
	}
}

func TestRequirements(t *testing.T) {
	// b waits for the Model c.
	model := must(map[string]any{
		"apiVersion": CompositeGroup + "/v1", "kind": "Model",
		"metadata": map[string]any{"name": "m", "namespace": "default", "labels": map[string]any{"l": "x"}},
		"spec":     map[string]any{},
	})
	j := jobOf("j", nil, container("main", "exit", "0", ""))
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, required map[string][]Object) (Composed, error) {
		if xr.Key().Kind == "Model" {
			return compose(j)(xr, observed, required)
		}
		c := Composed{
			Requirements: map[string]Requirement{
				"name":   {APIVersion: model.Key().APIVersion, Kind: "Model", Name: "m"},
				"label":  {APIVersion: model.Key().APIVersion, Kind: "Model", MatchLabels: map[string]string{"l": "x"}},
				"absent": {APIVersion: model.Key().APIVersion, Kind: "Model", Name: "n"},
			},
			Desired: map[string]Object{"c": must(map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"},
			})},
		}
		if len(required["name"]) == 1 && len(required["label"]) == 1 && required["absent"] != nil && len(required["absent"]) == 0 {
			c.Ready = map[string]bool{"c": condition(required["name"][0], Ready).Status == True}
		}
		return c, nil
	}), func(c *Config) { c.Claims = append(c.Claims, model) })
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
}

func TestManagedConnectionReachesPod(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	s := managedOf("s", "1", map[string]any{"writeConnectionSecretToRef": map[string]any{"name": "conn"}})
	d := deployment("d", 1, with(container("main", "env", file), map[string]any{
		"envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "conn"}}},
		"env": []any{
			map[string]any{"name": "POD", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.name"}}},
			map[string]any{"name": "POD_IP", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}}},
			map[string]any{"name": "W", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "conn", "key": "WORD"}}},
			map[string]any{"name": "SUM", "value": "$(POD)/$(W)/$$(W)/$(NONE)"},
		},
	}))
	w := run(t, compose(s, d))
	w.settle()
	var env string
	waittest.Until(t, "the process writes its environment", func() bool {
		raw, err := os.ReadFile(file)
		env = "\n" + string(raw) + "\n"
		return err == nil
	})
	for _, want := range []string{"NATS_URL=nats://x", "POD=d-0", "POD_IP=127.0.0.1", "W=secret", "SUM=d-0/secret/$(W)/$(NONE)"} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("no %q in %s", want, env)
		}
	}
	if data, ok := w.Secret("default", "conn"); !ok || string(data["WORD"]) != "secret" {
		t.Errorf("secret = %v", data)
	}
	// Not on disk.
	err := filepath.Walk(filepath.Join(w.dir, "data"), func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("secret")) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestManagedIsUpdatedAndFailuresAreTold(t *testing.T) {
	var value atomic.Value
	value.Store("1")
	things := &fakeManaged{unready: map[string]bool{"s": true}}
	w := run(t, composerFunc(func(xr Object, observed map[string]Object, _ map[string][]Object) (Composed, error) {
		return compose(managedOf("s", value.Load().(string), nil))(xr, observed, nil)
	}), func(c *Config) { c.Managed = things })
	k := managedOf("s", "", nil).Key()
	waittest.Until(t, "it is created", func() bool { return len(things.did()) == 1 })
	things.set(func() { things.fails = fault.Errorf(fault.Transient, "cannot reach it") })
	w.await("trouble", func(e Event) bool { return e.Type == Problem && e.Message == "cannot reach it" })
	if got := condition(w.object(k), Synced); got.Status != False || got.Message != "cannot reach it" {
		t.Errorf("Synced = %+v", got)
	}
	if got := text(w.object(k), "status", "atProvider", "value"); got != "1" {
		t.Errorf("atProvider.value = %q", got)
	}
	things.set(func() { things.fails, things.unready = nil, nil })
	w.settle()
	things.set(func() {
		if got := text(things.seen, "status", "atProvider", "value"); got != "1" {
			t.Errorf("Observe is given the status value %q", got)
		}
	})
	value.Store("2")
	w.look(func() { w.table.dirty[xr("a").Key()] = true })
	waittest.Until(t, "it is updated", func() bool { return cmp.Equal(things.did(), []string{"create s", "update s"}) })
	if n := len(w.told(func(e Event) bool { return e.Type == Problem })); n != 1 {
		t.Errorf("the same problem is reported %d times", n)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if got := things.did(); len(got) != 2 {
		t.Errorf("external resources do not stay at the end: %v", got)
	}
}

func TestOtherImageIsNotRun(t *testing.T) {
	foreign := with(container("engine"), map[string]any{"image": "example.org/dllama:1"})
	shell := with(container("shell"), map[string]any{"command": []any{"sh", "-c"}})
	cases := map[string]Object{
		"Deployment": deployment("d", 1, container("main", "sleep"), foreign),
		"Job":        jobOf("j", nil, foreign),
		"Command":    deployment("d", 1, shell),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := run(t, compose(o))
			r := w.settle()
			if !r.Failed || r.Reason != "NotRunHere" || !strings.Contains(r.Message, o.Key().String()) {
				t.Errorf("root = %+v", r)
			}
			told := w.await("not run here", of(NotRunHere, o.Key()))
			if !strings.Contains(told.Message, "engine") && !strings.Contains(told.Message, "shell") {
				t.Errorf("message = %q", told.Message)
			}
			if n := len(w.told(of(ProcessStarted, o.Key()))); n != 0 {
				t.Errorf("%d processes started", n)
			}
		})
	}
}

func TestOtherKindsAreListedOnce(t *testing.T) {
	object := func(apiVersion, kind string) Object {
		return must(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "x"}})
	}
	ingress := object("networking.k8s.io/v1", "Ingress")
	w := run(t, compose(ingress, object("policy/v1", "PodDisruptionBudget"), object("v1", "ServiceAccount"),
		object("networking.k8s.io/v1", "NetworkPolicy")))
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
	told := w.told(func(e Event) bool { return e.Type == NotRunHere })
	if len(told) != 1 || told[0].Object.Kind != "Ingress" {
		t.Errorf("events %+v", told)
	}
}

func TestFinalReasonsEndWaiting(t *testing.T) {
	cases := map[string]struct {
		composed Composed
		err      error
		want     string
	}{
		"Reason": {composed: Composed{
			Desired: map[string]Object{"d": deployment("d", 1, container("main", "sleep"))}, Ready: map[string]bool{"d": false},
			Conditions: []Condition{{Type: Serving, Status: False, Reason: "Broken", Message: "mend it"}},
		}, want: "Broken: mend it"},
		"Fatal": {composed: Composed{Results: []Result{{Severity: Fatal, Message: "contradiction"}}}, want: "ReconcileError: Dllama default/a: contradiction"},
		"Error": {err: errors.New("boom"), want: "ReconcileError: Dllama default/a: cannot compose Dllama default/a: boom"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := run(t, composerFunc(func(Object, map[string]Object, map[string][]Object) (Composed, error) { return c.composed, c.err }),
				func(cfg *Config) { cfg.FinalReason = func(r string) bool { return r == "Broken" } })
			r := w.settle()
			if got := r.Reason + ": " + r.Message; !r.Failed || r.Ready || got != c.want {
				t.Errorf("failed %v, %q, want %q", r.Failed, got, c.want)
			}
		})
	}
}

func TestCompositionThatNeverSettles(t *testing.T) {
	n := 0
	w := run(t, composerFunc(func(Object, map[string]Object, map[string][]Object) (Composed, error) {
		n++
		return Composed{Status: map[string]any{"n": n}}, nil
	}))
	told := w.await("trouble", of(Problem, xr("a").Key()))
	if !strings.Contains(told.Message, "cannot settle") {
		t.Errorf("message = %q", told.Message)
	}
}

func TestServiceProxy(t *testing.T) {
	d := deployment("web", 2, server())
	s := serviceOf("web", 8082)
	w := run(t, compose(d, s), func(c *Config) { c.Ports = map[string]int{"web": 0} })
	r := w.settle()
	if len(r.Endpoints) != 1 || r.Endpoints[0].Port != 8082 || r.Endpoints[0].Service != s.Key() {
		t.Fatalf("endpoints = %+v", r.Endpoints)
	}
	addr := r.Endpoints[0].Address
	if told := w.await("listening", of(Listening, s.Key())); told.Endpoint != r.Endpoints[0] {
		t.Errorf("endpoint %+v", told.Endpoint)
	}
	answers := map[string]bool{}
	for range 4 {
		answers[ask(t, addr)] = true
	}
	pids := map[string]bool{}
	for _, e := range w.told(of(ProcessStarted, d.Key())) {
		pids[strconv.Itoa(e.PID)] = true
	}
	if !cmp.Equal(answers, pids) {
		t.Errorf("answers from %v, processes %v", answers, pids)
	}

	// A request outlasts the restart of all pods.
	for pid := range pids {
		n, _ := strconv.Atoi(pid)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
	w.awaitNth(2, "the ends", of(ProcessEnded, d.Key()))
	if got := ask(t, addr); pids[got] {
		t.Errorf("answer of a killed process")
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the port is still open after Run")
	}
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port
	d := deployment("web", 1, container("main", "sleep"))
	w := run(t, compose(d, serviceOf("web", port)))
	err = waittest.Receive(t, "Run ends", w.ended)
	w.ended <- err
	want := fmt.Sprintf("cannot open port %d of Service default/web: port %d is in use; choose another one with --port web:%d=PORT", port, port, port)
	if err == nil || err.Error() != want || !fault.Is(err, fault.Conflict) {
		t.Errorf("error = %v, want %s", err, want)
	}
	for _, e := range w.told(of(ProcessStarted, d.Key())) {
		if processtest.Alive(e.PID) {
			t.Error("a process is left")
		}
	}
	if _, err := w.Wait(t.Context()); err == nil || err.Error() != want {
		t.Errorf("Wait: %v", err)
	}
}

func TestStubbornProcessIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deaf")
	d := deployment("d", 1, container("main", "stubborn", file))
	w := run(t, compose(d), func(c *Config) { c.Grace = 50 * time.Millisecond })
	pid := w.await("start", of(ProcessStarted, d.Key())).PID
	waittest.Until(t, "it ignores the signal", func() bool { _, err := os.Stat(file); return err == nil })
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if processtest.Alive(pid) {
		t.Error("the process is still there")
	}
}

func TestKilledParentLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	told := filepath.Join(dir, "pids")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	up := func() *exec.Cmd {
		cmd := exec.CommandContext(waittest.Context(t), exe, "up", filepath.Join(dir, "data"), told)
		cmd.Env = append(os.Environ(), "KOLDUN_TEST_CHILD=1")
		return cmd
	}
	parent := up()
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parent.Process.Kill() }()
	pids := awaitPIDs(t, told)

	var stderr bytes.Buffer
	second := up()
	second.Stderr = &stderr
	if err := second.Run(); err == nil || !strings.Contains(stderr.String(), fmt.Sprintf("process %d uses it", parent.Process.Pid)) {
		t.Errorf("a second process with the same data folder: %v, %s", err, stderr.String())
	}

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for _, pid := range pids {
		waittest.Until(t, "process "+strconv.Itoa(pid)+" ends", func() bool { return !processtest.Alive(pid) })
	}

	// The next run starts with the leftovers of the killed one.
	if err := os.Remove(told); err != nil {
		t.Fatal(err)
	}
	third := up()
	if err := third.Start(); err != nil {
		t.Fatal(err)
	}
	pids = awaitPIDs(t, told)
	_ = third.Process.Kill()
	_ = third.Wait()
	for _, pid := range pids {
		waittest.Until(t, "process "+strconv.Itoa(pid)+" ends", func() bool { return !processtest.Alive(pid) })
	}
}

func awaitPIDs(t *testing.T, path string) []int {
	t.Helper()
	var raw []byte
	waittest.Until(t, "the processes tell their ids", func() (ok bool) {
		var err error
		raw, err = os.ReadFile(path)
		return err == nil
	})
	var child, grandchild int
	if _, err := fmt.Sscan(string(raw), &child, &grandchild); err != nil {
		t.Fatal(err)
	}
	return []int{child, grandchild}
}

func TestBadClaims(t *testing.T) {
	cases := map[string]struct {
		claims []Object
		kind   fault.Kind
		want   string
	}{
		"None":      {nil, fault.Invalid, "cannot run claims: there are none"},
		"Empty":     {[]Object{{}}, fault.Invalid, "cannot run document 1: apiVersion and kind are required"},
		"Nameless":  {[]Object{xr("")}, fault.Invalid, "cannot run document 1, a Dllama: metadata.name is required"},
		"Duplicate": {[]Object{xr("a"), xr("b"), xr("a")}, fault.Invalid, "cannot run documents 1 and 3: both are Dllama default/a"},
		"Foreign": {
			[]Object{deployment("d", 1)}, fault.Unsupported,
			"cannot run Deployment default/d: the kind Deployment of apps/v1 does not belong into a claims file; " +
				"kinds of koldun.gorizond.io and koldun.m.gorizond.io, Secrets, ConfigMaps and PersistentVolumeClaims do",
		},
		"BadSecret": {
			[]Object{must(map[string]any{
				"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": map[string]any{"k": "%"},
			})}, fault.Invalid, `cannot use Secret default/s: the value of key "k" is not base64`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{
				Claims: c.claims, Data: &Data{}, Composer: compose(), Managed: &fakeManaged{}, Binary: "/x", OwnImage: ownImage,
			})
			if err == nil || err.Error() != c.want || !fault.Is(err, c.kind) {
				t.Errorf("error = %v (%s)\nwant    %s (%s)", err, fault.KindOf(err), c.want, c.kind)
			}
		})
	}
}

func TestClaimedSecretReachesPodAsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	d := deployment("d", 1, with(container("main", "env", file), map[string]any{
		"volumeMounts": []any{map[string]any{"name": "token"}},
	}))
	spec, _ := at(d, "spec", "template", "spec")
	spec.(map[string]any)["volumes"] = []any{map[string]any{"name": "token", "secret": map[string]any{"secretName": "hf"}}}
	secret := must(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "hf"},
		"stringData": map[string]any{"token": "hf_x"},
	})
	w := run(t, compose(d), func(c *Config) { c.Claims = append(c.Claims, secret) })
	w.settle()
	var dir string
	waittest.Until(t, "the process knows the folder", func() bool {
		raw, _ := os.ReadFile(file)
		for line := range strings.SplitSeq(string(raw), "\n") {
			if d, ok := strings.CutPrefix(line, "KOLDUN_DIR_TOKEN="); ok {
				dir = d
			}
		}
		return dir != ""
	})
	path := filepath.Join(dir, "token")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	if info.Mode().Perm() != 0o600 || string(raw) != "hf_x" {
		t.Errorf("%v %q", info.Mode(), raw)
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the secret stays on disk after Run")
	}
}

func TestPodWaitsForSecret(t *testing.T) {
	d := deployment("d", 1, with(container("main", "sleep"), map[string]any{
		"envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "conn"}}},
	}))
	things := &fakeManaged{fails: errors.New("not yet")}
	s := managedOf("s", "1", map[string]any{"writeConnectionSecretToRef": map[string]any{"name": "conn"}})
	w := run(t, compose(d, s), func(c *Config) { c.Managed = things })
	waittest.Until(t, "the reason is told", func() bool {
		return condition(w.object(d.Key()), "Available").Message == `there is no Secret "conn" yet`
	})
	w.await("trouble", of(Problem, d.Key()))
	things.set(func() { things.fails = nil })
	if r := w.settle(); !r.Ready {
		t.Errorf("root = %+v", r)
	}
}

func ask(t *testing.T, addr string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waittest.Patience}
	rsp, err := client.Get("http://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rsp.Body.Close() }()
	body, err := io.ReadAll(rsp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func get(v any, path ...string) any {
	out, _ := at(v, path...)
	return out
}

func sorted(s []string) []string {
	m := map[string]bool{}
	for _, v := range s {
		m[v] = true
	}
	return sortedKeys(m)
}
