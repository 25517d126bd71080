package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Node is the name of the node to which pods are bound. No such object exists.
const Node = "simulated"

// A Kubelet simulates scheduling, running and ending of all pods of a cluster, one
// step of one pod at a time.
type Kubelet struct {
	// Behavior returns the behavior of a pod before every step. Nil is Run for all.
	Behavior func(*corev1.Pod) Behavior

	// Pace is the pause after each step.
	Pace time.Duration
}

// Run runs the kubelet until ctx ends.
func (k Kubelet) Run(ctx context.Context, cfg *rest.Config) error {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("cannot make client of the kubelet: %w", err)
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	pods := factory.Core().V1().Pods()
	queue := workqueue.NewTypedDelayingQueue[string]()
	if _, err := pods.Informer().AddEventHandler(enqueue(queue)); err != nil {
		return fmt.Errorf("cannot watch pods: %w", err)
	}
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	for {
		key, closing := queue.Get()
		if closing {
			return nil
		}
		if err := k.step(ctx, clients, pods.Lister(), key); err != nil {
			queue.AddAfter(key, again)
		}
		queue.Done(key)
	}
}

// enqueue adds the keys of changed pods to the queue.
func enqueue(queue workqueue.TypedDelayingInterface[string]) cache.ResourceEventHandler {
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add}
}

// errAgain requests a retry of the pod.
var errAgain = errors.New("look again") //nolint:gochecknoglobals // a sentinel

// step takes the next step of one pod.
func (k Kubelet) step(ctx context.Context, clients kubernetes.Interface, pods listers.PodLister, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil //nolint:nilerr // no such pod
	}
	seen, err := pods.Pods(namespace).Get(name)
	if err != nil {
		return nil //nolint:nilerr // it is gone
	}
	pod := seen.DeepCopy()
	behavior := Run()
	if k.Behavior != nil {
		behavior = k.Behavior(seen)
	}
	api := clients.CoreV1().Pods(namespace)
	switch next(pod, behavior) {
	case nothing:
		return nil
	case wait:
		if k.Behavior == nil {
			return nil
		}
		return errAgain
	case bind:
		err = api.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: Node},
		}, metav1.CreateOptions{})
	case remove:
		now := int64(0)
		err = api.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	case report:
		_, err = api.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	}
	pause(ctx, k.Pace)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the change enqueued the pod
	}
	return err
}
