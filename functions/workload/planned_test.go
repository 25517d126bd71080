package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

func TestSelective(t *testing.T) {
	request := func(name, quantity string) v1alpha1.PlannedPods {
		return v1alpha1.PlannedPods{Requests: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(quantity)}}
	}
	for name, c := range map[string]struct {
		pods v1alpha1.PlannedPods
		want bool
	}{
		"Nothing":    {v1alpha1.PlannedPods{}, false},
		"LittleRAM":  {request("memory", "1023Mi"), false},
		"RAM":        {request("memory", "1Gi"), true},
		"FewCores":   {request("cpu", "3"), false},
		"Cores":      {request("cpu", "3500m"), true},
		"Disk":       {request("ephemeral-storage", "1Ti"), false},
		"Device":     {request("nvidia.com/gpu", "1"), true},
		"NodeLabels": {v1alpha1.PlannedPods{NodeSelector: map[string]string{"zone": "a"}}, true},
	} {
		if got := Selective(c.pods); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
