package dllama

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/names"
)

// composePods composes the pods of a Dllama that is not scaled, and what they need.
func (d *dllama) composePods(plan nodePlan, up upstream, waits managed.Pending) error {
	builder := podBuilder{nodePlan: plan, Config: d.Config, more: up.additions(), files: enginepod.Files{Claim: plan.artifact.ClaimName}}
	watched, err := d.watch(builder, waits.Any())
	if err != nil {
		return err
	}
	if waits.Any() {
		d.wait(waits, watched)
		return nil
	}
	files, next := d.deliver(plan)
	if next == compose.Stop {
		return nil
	}
	c, next, err := d.connect(up, resRunners, d.member(d.Name), plan.artifact.URL)
	if err != nil || next == compose.Stop {
		return err
	}
	var keys workload.StoreKeys
	if files.fetches && files.ownStore() {
		a := plan.artifact
		folder := v1alpha1.BucketAccess{Prefix: strings.TrimPrefix(a.URL, "s3://"+a.Bucket+"/")}
		c.desired[resBucket] = managed.Bucket(a.ProviderConfigRef, d.Namespace, names.Object(d.Name, "artifact"), a.Bucket, files.secret(), folder)
		keys = connection.StoreKeys(d.Call, resBucket, files.secret())
	}
	pending, err := managed.Await(d.Call, c.desired)
	if err != nil {
		return err
	}
	user := connection.Runner(d.session(), d.Namespace, d.rootName()+"-0", d.served())
	logins, waiting, err := connection.Users(d.Call, c.via, d.owner(), d.account(), user)
	if err != nil || d.await(cmp.Or(pending, waiting)) == compose.Stop {
		return err
	}
	builder.files, builder.login = files.files(keys), logins.Runner()
	return podSet{dllama: d, plan: plan, up: up, delivery: files, watched: watched}.serve(builder)
}

// A podSet serves a model by the pods of one Dllama.
type podSet struct {
	*dllama
	plan     nodePlan
	up       upstream
	delivery delivery
	watched  managed.Pods
}

// serve composes the pods. Root and workers start together: the root's
// supervisor waits until all workers listen.
func (s podSet) serve(pods podBuilder) error {
	root := pods.root()
	var worker workload.Pod
	workers, readyWorkers := s.plan.workers(), int32(0)
	if workers > 0 {
		worker = pods.worker()
		if err := bind(&root, &worker); err != nil {
			return err
		}
		var err error
		if readyWorkers, err = s.serveWorkers(worker); err != nil {
			return err
		}
	}
	ready, err := s.serveRoot(root)
	if err != nil {
		return err
	}
	if err := s.guard(root, worker); err != nil {
		return err
	}
	if workers > 0 {
		if err := s.protect(root, s.WillBeReady(resRoot) && s.WillBeReady(resWorkers)); err != nil {
			return err
		}
	}
	s.report(ready, readyWorkers)
	return nil
}

// report sets the status and the condition by what is ready.
func (s podSet) report(ready bool, readyWorkers int32) {
	workers := s.plan.workers()
	s.status.ReadyRoot, s.status.ReadyWorkers = ready, quarters(readyWorkers, workers)
	s.status.URL = s.ingress.Status.URL
	var starts managed.Progress
	if !ready {
		starts = s.watched.Of(s.rootName() + "-0")
		s.status.Progress, s.status.ETA = starts.String(), starts.ETA()
	}
	switch {
	case (!ready || readyWorkers < workers) && s.watched.Reason != "":
		s.Fail(s.watched.Reason, "%s", s.watched.Message)
	case readyWorkers < workers:
		s.Fail(reason.WorkersStarting, "StatefulSet %q is not ready: not all of its %d workers listen", s.workersName(), workers)
	case !ready:
		awaits := cmp.Or(s.up.awaits(), "the root "+starts.Start(cmp.Or(s.plan.artifact.ModelFile, s.status.Model)))
		s.Fail(reason.RootStarting, "StatefulSet %q is not ready: %s", s.rootName(), awaits)
	case s.Spec.Expose != nil && !s.ingress.serves():
		s.failIngress()
	default:
		s.Serve(reason.Available, "%s is served on %s%s", s.status.Model, plural(int(s.status.Nodes), "node"), s.unchanged())
	}
}

// quarters rounds a part down to quarters of the whole, so that the status
// changes rarely while many workers start.
func quarters(part, whole int32) int32 {
	if part >= whole {
		return whole
	}
	step := (whole + 3) / 4
	return part / step * step
}

// bind annotates root and workers with a hash of both, so that a change to one
// restarts all: they must be of the same build.
func bind(root, worker *workload.Pod) error {
	raw, err := json.Marshal([]any{root.Template(), worker.Template()})
	if err != nil {
		return err
	}
	hash := names.Hash(16, string(raw))
	root.Annotations[v1.AnnotationGroup], worker.Annotations[v1.AnnotationGroup] = hash, hash
	return nil
}

// serveRoot composes the root and the Service that leads to its sidecar.
func (s podSet) serveRoot(pod workload.Pod) (ready bool, err error) {
	name := s.rootName()
	service := workload.Headless(s.Namespace, name, pod.Labels, map[string]int32{engine.PortSidecar: engine.SidecarNumber})
	if err := s.Desire(resService, service, compose.Ready); err != nil {
		return false, err
	}
	err = s.Desire(resRoot, workload.StatefulSet(s.Namespace, name, 1, pod), s.ReadyReplicas(resRoot) > 0)
	// A pod of an earlier template serves no longer in a moment.
	return s.WillBeReady(resRoot), err
}

// serveWorkers composes the workers. Their Service gives them names and carries
// no traffic.
func (s podSet) serveWorkers(pod workload.Pod) (ready int32, err error) {
	name, n := s.workersName(), s.plan.workers()
	port := engine.PortHealth
	if s.plan.engine.Process == nil {
		port = engine.PortEngine
	}
	service := workload.Headless(s.Namespace, name, pod.Labels, map[string]int32{port: pod.Ports[port]})
	if err := s.Desire(resWorkerService, service, compose.Ready); err != nil {
		return 0, err
	}
	ready = min(s.ReadyReplicas(resWorkers), n)
	set := workload.StatefulSet(s.Namespace, name, n, pod)
	if s.plan.engine.Grouped { // the root has number 0
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
	}
	err = s.Desire(resWorkers, set, compose.Readiness(ready == n))
	if ready == n && !s.WillBeReady(resWorkers) {
		ready = 0
	}
	return ready, err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
