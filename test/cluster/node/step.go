package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
)

// errAgain requests a retry of the pod.
var errAgain = errors.New("look again") //nolint:gochecknoglobals // a sentinel

// step takes the next step of one pod: on the API server, or on this node.
func (n *Node) step(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil //nolint:nilerr // no such pod
	}
	p, err := n.pods.Pods(namespace).Get(name)
	l := n.worker(key)
	if l != nil && (err != nil || p.UID != l.uid) {
		// It was deleted without grace, and another pod may have its name.
		l.killAll()
		return n.forget(key, l)
	}
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	api := n.clients.CoreV1().Pods(namespace)
	switch {
	case p.Spec.NodeName == "" && p.DeletionTimestamp == nil:
		if why := n.unfit(ctx, p); why != "" {
			return errors.Join(n.write(ctx, p, unscheduled(p, why)), errAgain)
		}
		err = api.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: p.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: Name},
		}, metav1.CreateOptions{})
	case p.Spec.NodeName != Name:
		return nil
	case p.DeletionTimestamp != nil:
		err = n.remove(ctx, p, key, l)
	case l == nil && finished(p):
		return nil
	case l == nil:
		return n.begin(ctx, p, key)
	default:
		// The worker is kept until the API server knows the end of the pod.
		// Otherwise the pod would look as if it had not run, and start again.
		if l.isOver() && finished(p) {
			return n.forget(key, l)
		}
		err = n.report(ctx, p, l)
	}
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the change enqueues the pod
	}
	return err
}

func finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// remove removes a deleted pod: first its processes, then the object.
func (n *Node) remove(ctx context.Context, p *corev1.Pod, key string, l *podWorker) error {
	if l != nil {
		l.end()
		if err := n.report(ctx, p, l); err != nil {
			return err
		}
		if left := time.Until(p.DeletionTimestamp.Time); !l.isOver() && left > 0 {
			n.queue.AddAfter(key, left)
			return nil // its end enqueues the pod, too
		}
		l.killAll()
		if err := n.forget(key, l); err != nil {
			return err
		}
	}
	now := int64(0)
	return n.clients.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID)),
	})
}

// begin starts a pod, or reports why it cannot start.
func (n *Node) begin(ctx context.Context, p *corev1.Pod, key string) error {
	if image := n.missing(p); image != "" {
		return errors.Join(n.refuse(ctx, p, image), errAgain)
	}
	plan, err := n.plan(ctx, p)
	if err != nil {
		return errors.Join(n.write(ctx, p, waiting(p, "CreateContainerConfigError", err.Error())), errAgain)
	}
	grace := corev1.DefaultTerminationGracePeriodSeconds * time.Second
	m := &pod.Machine{Tether: n.tether, Binary: n.Binary, Logs: n.logs(p.Namespace), Grace: cmp.Or(plan.Grace, grace)}
	l := newPodWorker(p.UID, plan, n.limits(p), func() {
		n.queue.Add(key)
		n.proxies.refresh()
	})
	var running context.Context
	running, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil {
		l.cancel()
		n.ports.Give(plan.Ports)
		return nil
	}
	n.workers[key] = l
	if limit, ok := n.diskLimit(p); ok {
		l.guards.Go(func() { n.quota(p, l, limit) })
	}
	n.all.Go(func() {
		defer l.cancel()
		l.run(running, m, p.Spec.RestartPolicy == corev1.RestartPolicyAlways)
	})
	return nil
}

// forget removes a worker that has ended.
func (n *Node) forget(key string, l *podWorker) error {
	if !l.isOver() {
		return errAgain
	}
	n.mu.Lock()
	delete(n.workers, key)
	n.mu.Unlock()
	n.ports.Give(l.plan.Ports)
	n.queue.Add(key)
	return nil
}

func (n *Node) worker(key string) *podWorker {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.workers[key]
}

// report updates the status of a running pod.
func (n *Node) report(ctx context.Context, p *corev1.Pod, l *podWorker) error {
	return n.write(ctx, p, l.status(p))
}

// write updates the status if it differs.
func (n *Node) write(ctx context.Context, p *corev1.Pod, status corev1.PodStatus) error {
	if equality.Semantic.DeepEqual(p.Status, status) {
		return nil
	}
	p = p.DeepCopy()
	p.Status = status
	_, err := n.clients.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}

// plan resolves what a pod needs. Errors: NotFound (something does not exist yet),
// Unsupported (the pod can never run here).
func (n *Node) plan(ctx context.Context, p *corev1.Pod) (*pod.Plan, error) {
	raw, err := json.Marshal(p.Spec)
	if err != nil {
		return nil, err
	}
	var spec pod.Spec
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, fmt.Errorf("cannot read spec of pod %q: %w", p.Name, err)
	}
	if p.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		return nil, fault.Errorf(fault.Unsupported, "restartPolicy %q is not supported by this node", p.Spec.RestartPolicy)
	}
	ports, err := n.ports.For(slices.Concat(spec.InitContainers, spec.Containers))
	if err != nil {
		return nil, err
	}
	plan, err := pod.Resolve(spec, pod.Place{
		Namespace: p.Namespace,
		Name:      p.Name,
		Dir:       filepath.Join(n.dir, "run", string(p.UID)),
		ClaimsDir: filepath.Join(n.dir, "claims", p.Namespace),
		Env:       slices.Concat(process.Kept(), n.Env),
		Lookup:    func(kind, name string) (map[string][]byte, bool) { return n.lookup(ctx, kind, p.Namespace, name) },
	}, ports)
	if err == nil {
		err = n.adapt(plan, spec)
	}
	if err != nil {
		n.ports.Give(ports)
		return nil, err
	}
	return plan, nil
}

// adapt replaces the names of Services by loopback addresses, and adds the programs
// of images to the PATH of their containers.
func (n *Node) adapt(plan *pod.Plan, s pod.Spec) error {
	images := map[string]string{}
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		images[c.Name] = c.Image
	}
	for _, list := range [][]pod.Process{plan.Inits, plan.Containers} {
		for i := range list {
			c := &list[i]
			for _, texts := range [][]string{c.Args, c.Env} {
				for at, text := range texts {
					found, err := n.proxies.replace(text)
					if err != nil {
						return err
					}
					texts[at] = found
				}
			}
			if dir := n.Programs[images[c.Name]]; dir != "" {
				c.Env = append(c.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
				if c.Path != "" && !strings.Contains(c.Path, "/") {
					c.Path = filepath.Join(dir, c.Path)
				}
			}
		}
	}
	return nil
}

// lookup returns the data of a Secret or ConfigMap. One that cannot be read counts
// as missing.
func (n *Node) lookup(ctx context.Context, kind, namespace, name string) (map[string][]byte, bool) {
	if kind == "Secret" {
		s, err := n.clients.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, false
		}
		return s.Data, true
	}
	m, err := n.clients.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, false
	}
	data := map[string][]byte{}
	for key, value := range m.Data {
		data[key] = []byte(value)
	}
	for key, value := range m.BinaryData {
		data[key] = value
	}
	return data, true
}
