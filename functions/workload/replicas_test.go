package workload_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/functions/workload"
)

func TestUnscaledReplicas(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
	}
	const set = `{"f:spec":{"f:replicas":{}}}`
	crossplane := entry("apiextensions.crossplane.io/composed/0123", set)
	five := int32(5)
	for name, c := range map[string]struct {
		managers []metav1.ManagedFieldsEntry
		replicas *int32
		want     int32 // 0: none
	}{
		"NoManager":  {nil, &five, 0},
		"Crossplane": {[]metav1.ManagedFieldsEntry{crossplane}, &five, 5},
		"NoNumber":   {[]metav1.ManagedFieldsEntry{crossplane}, nil, 0},
		"Autoscaler": {[]metav1.ManagedFieldsEntry{entry("kube-controller-manager", set)}, &five, 0},
		"Both":       {[]metav1.ManagedFieldsEntry{crossplane, entry("kubectl", set)}, &five, 0},
		"Status":     {[]metav1.ManagedFieldsEntry{crossplane, entry("kube-controller-manager", `{"f:status":{"f:replicas":{}}}`)}, &five, 5},
		"OtherField": {[]metav1.ManagedFieldsEntry{crossplane, entry("kubectl", `{"f:spec":{"f:paused":{}}}`)}, &five, 5},
		"Unreadable": {[]metav1.ManagedFieldsEntry{crossplane, entry("kubectl", `[`), {Manager: "kubectl"}}, &five, 5},
	} {
		d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: c.managers}, Spec: appsv1.DeploymentSpec{Replicas: c.replicas}}
		var got int32
		if n := workload.UnscaledReplicas(d); n != nil {
			got = *n
		}
		if got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
