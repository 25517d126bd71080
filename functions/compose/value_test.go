package compose

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

type embedded struct {
	A string `json:"a"`
}

// A zeroer is zero by its own account.
type zeroer struct{ N int }

// IsZero implements omitzero.
func (z *zeroer) IsZero() bool { return z.N == 0 }

// TestValueIsWhatJSONIs compares with encoding/json, in all that our objects
// are made of.
func TestValueIsWhatJSONIs(t *testing.T) {
	now := metav1.NewTime(time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	one, yes := int32(1), true
	port := intstr.FromString("http")
	cases := map[string]any{
		"Deployment": &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c"}, CreationTimestamp: now},
			Spec: appsv1.DeploymentSpec{Replicas: &one, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Name:      "x",
					Env:       []corev1.EnvVar{{Name: "A", Value: "<&>"}},
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1536Mi")}},
					ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
						Path: "/", Port: port,
					}}},
				}},
				Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			}}},
		},
		"Job":           &batchv1.Job{Spec: batchv1.JobSpec{Suspend: &yes, Selector: &metav1.LabelSelector{}}},
		"Secret":        &corev1.Secret{Data: map[string][]byte{"k": []byte("v\x00"), "empty": {}}},
		"NetworkPolicy": &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{}}}},
		"Service":       &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}}},
		"Dllama":        &v1.Dllama{Spec: v1.DllamaSpec{Runtime: v1.Runtime{ReplicaPower: &one, RootMemory: &v1.RootMemory{OverheadMaxRatio: 2.5}}}},
		"Ingress":       &v1.Ingress{Spec: v1.IngressSpec{Backend: v1.Backend{GatewaySettings: v1.GatewaySettings{ResponseTimeout: &metav1.Duration{Duration: 90 * time.Second}}}}},
		"Session":       &v1.Session{Status: v1.SessionStatus{LastActivity: &now}},
		"Stream":        &v1alpha1.Stream{Spec: v1alpha1.StreamSpec{ForProvider: v1alpha1.StreamParameters{Subjects: []string{"a"}, MaxBytes: new(int64(1 << 40))}}},
		"Nil":           (*v1.Model)(nil),
		"Raw":           &v1alpha1.ObjectTemplate{Spec: &runtime.RawExtension{Raw: []byte(`{"a":[1,"b"]}`)}},
		"Pointers":      struct{ *embedded }{},
		"Embedded":      struct{ *embedded }{&embedded{A: "x"}},
		"Hidden": struct {
			embedded
			A string `json:"a"`
		}{embedded{A: "inner"}, "outer"},
		"Zero": struct {
			T metav1.Time `json:"t,omitzero"`
			P *zeroer     `json:"p,omitzero"`
			Q *zeroer     `json:"q,omitzero"`
			N int         `json:"n,omitzero"`
		}{Q: &zeroer{}},
		"NilMap":   struct{ M map[string]int }{},
		"Lists":    [2]any{[]string(nil), []byte(nil)},
		"Float":    struct{ F float32 }{1.5},
		"Extremes": []int64{1 << 53, -1 << 53},
		"Left": struct {
			hidden string
			Out    string   `json:"-"`
			Named  embedded `json:"named"`
			Plain  embedded
		}{hidden: "h", Out: "o", Named: embedded{A: "n"}, Plain: embedded{A: "p"}},
		"Deeper": struct {
			A string `json:"a"`
			embedded
		}{"outer", embedded{A: "inner"}},
		"NilInterface": any(nil),
		"Map":          map[string]any{"a": []any{1, "b", nil, true, 1.5}, "b": map[string]string{}},
		"ServedStatus": &v1.DllamaStatus{Artifact: &v1.ServedArtifact{Artifact: v1.Artifact{ModelFile: "m"}, Model: "a/b"}},
	}
	for name, obj := range cases {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			want := &structpb.Value{}
			if err := want.UnmarshalJSON(raw); err != nil {
				t.Fatal(err)
			}
			dropNullTimes(want)
			got, err := valueOf(obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("valueOf differs from encoding/json (-want +got):\n%s", diff)
			}
		})
	}
}

func dropNullTimes(v *structpb.Value) {
	for name, child := range v.GetStructValue().GetFields() {
		if _, null := child.GetKind().(*structpb.Value_NullValue); null && name == "creationTimestamp" {
			delete(v.GetStructValue().GetFields(), name)
			continue
		}
		dropNullTimes(child)
	}
	for _, child := range v.GetListValue().GetValues() {
		dropNullTimes(child)
	}
}

func TestValueRefusesWhatNoDoubleHolds(t *testing.T) {
	for name, v := range map[string]any{"Large": map[string]any{"n": int64(1<<53 + 1)}, "Channel": map[string]any{"c": make(chan int)},
		"InList": []any{make(chan int)}, "InStruct": struct{ C chan int }{make(chan int)}, "NaN": math.NaN(), "Infinite": math.Inf(1), "Small": int64(-1<<53 - 1),
		"Marshaler": &runtime.RawExtension{Raw: []byte("{")},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := valueOf(v); err == nil {
				t.Errorf("valueOf = %v, want an error", got)
			}
		})
	}
}
