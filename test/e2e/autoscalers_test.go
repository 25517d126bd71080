package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// scaled is the Session that examples/autoscaling scale.
const scaled = `{apiVersion: koldun.gorizond.io/v1, kind: Session, metadata: {name: qwen3}, spec: {modelRef: {name: big}, scaling: {maxDllamas: 6}}}`

// betweenScales is the pause between changes of the scale. A HorizontalPodAutoscaler
// decides every 15 s, and most of its decisions change nothing.
const betweenScales = 20 * time.Second

// autoscalers tests all that writes the scale of a Session: clients, kubectl, a
// HorizontalPodAutoscaler, and KEDA.
func (p *suite) autoscalers(t *testing.T) {
	ctx := t.Context()
	ns := p.Namespace(t)
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report("qwen3")) })
	if err := p.ApplyIn(ctx, ns, inVolume, scaled); err != nil {
		t.Fatal(err)
	}
	target := example(t, ns, "scaledobject.yaml")
	ref, _, err := unstructured.NestedStringMap(target.Object, "spec", "scaleTargetRef")
	if err != nil {
		t.Fatal(err)
	}
	gvk := schema.FromAPIVersionAndKind(ref["apiVersion"], ref["kind"])
	mapping, err := p.Client().RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatalf("the API server does not serve the target of the ScaledObject: %v", err)
	}
	s := scaleOf{suite: p, ns: ns, name: ref["name"], resource: mapping.Resource.GroupResource(), scales: p.scales(t)}

	cluster.Eventually(t, "a Dllama without any scaling", s.is(1))
	s.selects(t)

	if err := s.set(ctx, 7); err == nil || !strings.Contains(err.Error(), "maxDllamas") {
		t.Errorf("an update above maxDllamas returns %v", err)
	}
	sleep(t, betweenScales)
	if err := s.set(ctx, 2); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "2 Dllamas after an update of the scale", s.is(2))

	sleep(t, betweenScales)
	p.Kubectl(t, "-n", ns, "scale", s.resource.String()+"/"+s.name, "--replicas=1")
	cluster.Eventually(t, "a Dllama after kubectl scale", s.is(1))

	p.serveMetrics(t, ns, map[string]int{"koldun_open_requests": 11, "s0-prometheus": 8}) // for 3 and 2 Dllamas
	hpa := example(t, ns, "hpa.yaml")
	s.autoscaler(t, hpa, 3)
	s.stops(t, hpa)
	if err := p.Client().Delete(ctx, hpa); err != nil {
		t.Fatal(err)
	}

	// KEDA starts a Session without Dllamas itself, and leaves the rest to an autoscaler.
	sleep(t, betweenScales)
	if err := s.set(ctx, 1); err != nil {
		t.Fatal(err)
	}
	s.autoscaler(t, ofKEDA(t, target), 2)
}

// ofKEDA returns the HorizontalPodAutoscaler that KEDA makes of a ScaledObject with one
// trigger.
func ofKEDA(t *testing.T, scaled *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	var spec struct {
		ScaleTargetRef                   autoscalingv2.CrossVersionObjectReference
		MinReplicaCount, MaxReplicaCount int32
		Triggers                         []struct {
			Type     string
			Metadata struct{ Threshold resource.Quantity }
		}
	}
	data, err := json.Marshal(scaled.Object["spec"])
	if err == nil {
		err = json.Unmarshal(data, &spec)
	}
	if err != nil || len(spec.Triggers) != 1 {
		t.Fatalf("cannot read the ScaledObject: %v: %+v", err, spec)
	}
	trigger, label := spec.Triggers[0], map[string]string{"scaledobject.keda.sh/name": scaled.GetName()}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Namespace: scaled.GetNamespace(), Name: "keda-hpa-" + scaled.GetName(), Labels: label},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: spec.ScaleTargetRef, MinReplicas: &spec.MinReplicaCount, MaxReplicas: spec.MaxReplicaCount,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "s0-" + trigger.Type, Selector: &metav1.LabelSelector{MatchLabels: label}},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &trigger.Metadata.Threshold},
			}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}

// autoscaler tests that a HorizontalPodAutoscaler scales to what its metric asks for.
func (s scaleOf) autoscaler(t *testing.T, hpa *unstructured.Unstructured, want int64) {
	t.Helper()
	if err := s.Client().Create(t.Context(), hpa); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, fmt.Sprintf("%d Dllamas by %s", want, hpa.GetName()), s.is(want))
}

// stops tests that a HorizontalPodAutoscaler leaves a Session without a minimum alone.
func (s scaleOf) stops(t *testing.T, hpa client.Object) {
	t.Helper()
	sleep(t, betweenScales)
	s.Kubectl(t, "-n", s.ns, "scale", s.resource.String()+"/"+s.name, "--replicas=0")
	cluster.Eventually(t, hpa.GetName()+" to stop", func(ctx context.Context) error {
		var now autoscalingv2.HorizontalPodAutoscaler
		if err := s.Client().Get(ctx, client.ObjectKeyFromObject(hpa), &now); err != nil {
			return err
		}
		for _, c := range now.Status.Conditions {
			if c.Type == autoscalingv2.ScalingActive && c.Status == corev1.ConditionFalse && c.Reason == "ScalingDisabled" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", now.Status.Conditions)
	})
}

// scaleOf is the scale subresource of one object.
type scaleOf struct {
	*suite
	ns, name string
	resource schema.GroupResource
	scales   scale.ScalesGetter
}

// scales returns the client with which autoscalers find and use scale subresources.
func (ob *objects) scales(t *testing.T) scale.ScalesGetter {
	t.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(ob.Config())
	if err != nil {
		t.Fatal(err)
	}
	scales, err := scale.NewForConfig(ob.Config(), ob.Client().RESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(found))
	if err != nil {
		t.Fatal(err)
	}
	return scales
}

func (s scaleOf) get(ctx context.Context) (*autoscalingv1.Scale, error) {
	return s.scales.Scales(s.ns).Get(ctx, s.resource, s.name, metav1.GetOptions{})
}

// set updates the scale, as KEDA does.
func (s scaleOf) set(ctx context.Context, replicas int32) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // with a write of the status
		now, err := s.get(ctx)
		if err != nil {
			return err
		}
		now.Spec.Replicas = replicas
		_, err = s.scales.Scales(s.ns).Update(ctx, s.resource, now, metav1.UpdateOptions{})
		return err
	})
}

// is returns a check that fails until the scale asks for n Dllamas, the Pool has that
// minimum, and the scale reports n.
func (s scaleOf) is(n int64) func(context.Context) error {
	return func(ctx context.Context) error {
		now, err := s.get(ctx)
		if err != nil {
			return err
		}
		pools := &unstructured.UnstructuredList{}
		pools.SetAPIVersion("koldun.m.gorizond.io/v1alpha1")
		pools.SetKind("PoolList")
		if err := s.Client().List(ctx, pools, client.InNamespace(s.ns)); err != nil {
			return err
		}
		if len(pools.Items) != 1 {
			return fmt.Errorf("there are %d Pools", len(pools.Items))
		}
		least, _, err := unstructured.NestedInt64(pools.Items[0].Object, "spec", "forProvider", "minMembers")
		if err != nil {
			return err
		}
		if int64(now.Spec.Replicas) != n || least != n || int64(now.Status.Replicas) != n {
			return fmt.Errorf("the scale asks for %d and reports %d, the Pool has the minimum %d", now.Spec.Replicas, now.Status.Replicas, least)
		}
		return nil
	}
}

// selects tests that the selector of the scale selects the pods of the Dllamas, and no
// others.
func (s scaleOf) selects(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, "the selector to select one root", func(ctx context.Context) error {
		now, err := s.get(ctx)
		if err != nil {
			return err
		}
		selector, err := labels.Parse(now.Status.Selector)
		if err != nil {
			return err
		}
		if selector.Empty() {
			return errors.New("the selector is empty")
		}
		var pods corev1.PodList
		if err := s.Client().List(ctx, &pods, client.InNamespace(s.ns), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Labels["koldun.gorizond.io/component"] != "root" {
			return fmt.Errorf("%q selects %d pods", selector, len(pods.Items))
		}
		return nil
	})
}

// example returns the object of a file of examples/autoscaling, in the namespace.
func example(t *testing.T, ns, file string) *unstructured.Unstructured {
	t.Helper()
	objects, err := cluster.Decode(read(t, filepath.Join(repository, "examples/autoscaling", file)))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%s has %d objects: %v", file, len(objects), err)
	}
	objects[0].SetNamespace(ns)
	return objects[0]
}
