package adapter

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
)

// A census exports how many resources of a kind exist, are ready and are in sync,
// by the metric names of Crossplane's providers. (The runtime's recorder requires a list type for each kind.)
type census struct {
	reader  kube.Reader
	scheme  *runtime.Scheme
	kind    schema.GroupVersionKind
	metrics *statemetrics.MRStateMetrics
	every   time.Duration
	log     logging.Logger
}

// addCensus adds a census of a kind, unless metrics are off. It runs in
// the leader: two replicas would count everything twice.
func addCensus(mgr ctrl.Manager, kind schema.GroupVersionKind, o controller.Options) error {
	if o.MetricOptions == nil || o.MetricOptions.MRStateMetrics == nil {
		return nil
	}
	return mgr.Add(census{
		reader: mgr.GetCache(), scheme: mgr.GetScheme(), kind: kind, log: o.Logger,
		metrics: o.MetricOptions.MRStateMetrics, every: o.MetricOptions.PollStateMetricInterval,
	})
}

// Start blocks until ctx ends.
func (c census) Start(ctx context.Context) error {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := c.take(ctx); err != nil && ctx.Err() == nil {
			c.log.Info("cannot count resources", "kind", c.kind.Kind, "error", err)
		}
	}
}

func (c census) take(ctx context.Context) error {
	obj, err := c.scheme.New(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	if err != nil {
		return err
	}
	list, ok := obj.(kube.ObjectList)
	if !ok {
		return runtime.NewNotRegisteredErrForKind(c.scheme.Name(), c.kind)
	}
	// Nothing needs to be copied: the list is only counted.
	if err := c.reader.List(ctx, list, kube.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	all, ready, synced := 0, 0, 0
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		all++
		if m, ok := obj.(resource.Managed); ok {
			ready += holds(m, xpv2.TypeReady)
			synced += holds(m, xpv2.TypeSynced)
		}
		return nil
	})
	if err != nil {
		return err
	}
	of := c.kind.String()
	c.metrics.Exists.WithLabelValues(of).Set(float64(all))
	c.metrics.Ready.WithLabelValues(of).Set(float64(ready))
	c.metrics.Synced.WithLabelValues(of).Set(float64(synced))
	return nil
}

// holds returns 1 if a condition is true, and 0 otherwise.
func holds(m resource.Managed, t xpv2.ConditionType) int {
	if m.GetCondition(t).Status == corev1.ConditionTrue {
		return 1
	}
	return 0
}
