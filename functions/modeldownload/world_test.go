package modeldownload_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/modeldownload"
)

// revisionOf returns the name under which the revision of a model is composed.
func revisionOf(t *testing.T, composite, model string, secrets ...string) string {
	t.Helper()
	rsp := composetest.Run(t, modeldownload.Compose, composetest.Case{Composite: composite, Required: there(secrets...)})
	for key, r := range rsp.GetDesired().GetResources() {
		if strings.HasSuffix(r.GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()["source"].GetStringValue(), model) {
			return key
		}
	}
	t.Fatalf("there is no revision of %s", model)
	return ""
}

// A world does what Crossplane does between compositions of one composite: it
// stores the status, applies what is desired and deletes the rest. All revisions
// resolve at once.
type world struct {
	t         *testing.T
	composite map[string]any
	required  map[string][]string
	observed  map[string]map[string]any // by key
	lingering []map[string]any          // deleted Jobs with pods that still run
	made      map[string]int            // how often each Job was created
	linger    bool                      // whether deleted Jobs linger
	silent    bool                      // whether the hub does not answer
}

func newWorld(t *testing.T, composite string) *world {
	t.Helper()
	w := &world{t: t, required: there(), observed: map[string]map[string]any{}, made: map[string]int{}}
	w.set(composite)
	return w
}

// set changes the spec, and keeps the status.
func (w *world) set(composite string) {
	w.t.Helper()
	status := w.composite["status"]
	w.composite = nil
	if err := yaml.Unmarshal([]byte(composite), &w.composite); err != nil {
		w.t.Fatal(err)
	}
	if status != nil {
		w.composite["status"] = status
	}
}

// run composes until nothing changes any more.
func (w *world) run() *fnv1.RunFunctionResponse {
	w.t.Helper()
	for range 10 {
		before := w.text(w.composite, w.observed)
		rsp := w.pass()
		if w.text(w.composite, w.observed) == before {
			return rsp
		}
	}
	w.t.Fatal("the composition does not come to rest")
	return nil
}

// pass composes once.
func (w *world) pass() *fnv1.RunFunctionResponse {
	w.t.Helper()
	c := composetest.Case{Composite: w.text(w.composite), Observed: map[string]string{}, Required: maps.Clone(w.required)}
	c.Required["jobs"] = nil
	for key, o := range w.observed {
		c.Observed[key] = w.text(o)
		if o["kind"] == "Job" {
			c.Required["jobs"] = append(c.Required["jobs"], w.text(o))
		}
	}
	for _, o := range w.lingering {
		c.Required["jobs"] = append(c.Required["jobs"], w.text(o))
	}
	rsp := composetest.Run(w.t, modeldownload.Compose, c)
	status := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)
	w.composite["status"] = status
	desired := map[string]map[string]any{}
	for key, r := range rsp.GetDesired().GetResources() {
		o := r.GetResource().AsMap()
		if old, exists := w.observed[key]; exists {
			o["status"] = old["status"]
		} else if o["kind"] == "Job" {
			w.made[o["metadata"].(map[string]any)["name"].(string)]++
		}
		if o["kind"] == "HubRevision" && !w.silent {
			o["status"] = map[string]any{"atProvider": map[string]any{"commit": commit, "files": 3, "sizeBytes": 2048}}
		}
		desired[key] = o
	}
	for key, o := range w.observed {
		if _, stays := desired[key]; !stays && o["kind"] == "Job" && w.linger {
			w.lingering = append(w.lingering, o)
		}
	}
	w.observed = desired
	return rsp
}

func (w *world) text(v ...any) string {
	w.t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(v) == 1 {
		return string(raw[1 : len(raw)-1])
	}
	return string(raw)
}

// decode decodes an object.
func decode[T any](w *world, o any) *T {
	w.t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(w.text(o)), out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) status() v1.ModelDownloadStatus {
	w.t.Helper()
	return *decode[v1.ModelDownloadStatus](w, w.composite["status"])
}

func (w *world) jobs() []*batchv1.Job {
	w.t.Helper()
	var out []*batchv1.Job
	for _, key := range slices.Sorted(maps.Keys(w.observed)) {
		if w.observed[key]["kind"] == "Job" {
			out = append(out, decode[batchv1.Job](w, w.observed[key]))
		}
	}
	return out
}

// find returns the Job of a model, if there is one.
func (w *world) find(model string) *batchv1.Job {
	w.t.Helper()
	for _, j := range w.jobs() {
		if strings.Contains(strings.Join(j.Spec.Template.Spec.Containers[0].Args, " "), "hf://"+model+"@") {
			return j
		}
	}
	return nil
}

// job returns the Job of a model after as many compositions as it takes.
func (w *world) job(model string) *batchv1.Job {
	w.t.Helper()
	w.run()
	j := w.find(model)
	if j == nil {
		w.t.Fatalf("there is no Job of %s: %+v", model, w.status().Models)
	}
	return j
}

// finish gives the Job of a model a status.
func (w *world) finish(model, status string) {
	w.t.Helper()
	name := w.job(model).Name
	for _, o := range w.observed {
		if o["metadata"].(map[string]any)["name"] == name {
			var fields map[string]any
			if err := yaml.Unmarshal([]byte(status), &fields); err != nil {
				w.t.Fatal(err)
			}
			o["status"] = fields["status"]
		}
	}
}

// update changes the composed objects of a kind.
func (w *world) update(kind string, change func(o map[string]any)) {
	for _, o := range w.observed {
		if o["kind"] == kind {
			change(o)
		}
	}
}

// remove deletes the composed objects of a kind.
func (w *world) remove(kind string) {
	maps.DeleteFunc(w.observed, func(_ string, o map[string]any) bool { return o["kind"] == kind })
}

// complete lets the Job of a model succeed.
func (w *world) complete(model string) {
	w.t.Helper()
	w.finish(model, success)
	w.run()
	if got := w.status(); !slices.Contains(got.Completed, model) || slices.Contains(got.Pending, model) || slices.Contains(got.Failed, model) {
		w.t.Fatalf("%s is not complete: %+v", model, got)
	}
}

// expire deletes finished Jobs that may expire, as Kubernetes does.
func (w *world) expire() (deleted int) {
	for key, o := range w.observed {
		if o["kind"] == "Job" && decode[batchv1.Job](w, o).Spec.TTLSecondsAfterFinished != nil {
			delete(w.observed, key)
			deleted++
		}
	}
	return deleted
}

// hub returns the revisions that are composed.
func (w *world) hub() []*v1alpha1.HubRevision {
	var out []*v1alpha1.HubRevision
	for _, o := range w.observed {
		if o["kind"] == v1alpha1.KindHubRevision {
			out = append(out, decode[v1alpha1.HubRevision](w, o))
		}
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
