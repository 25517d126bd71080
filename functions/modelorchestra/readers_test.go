package modelorchestra_test

import (
	"strconv"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/modelorchestra"
	"github.com/gorizond/koldun/functions/reason"
)

// Two mounts at one path, which the API server refuses.
func TestMountsOfUsersReplaceThoseOfKoldun(t *testing.T) {
	cases := map[string]struct{ spec, volumes, mounts string }{
		"None":   {"{}", "config dshm models", "config:/code/config.yaml dshm:/dev/shm models:/code/models"},
		"Models": {"{volumes: [{name: mine, emptyDir: {}}], volumeMounts: [{name: mine, mountPath: /code/models/}]}", "config dshm mine", "config:/code/config.yaml dshm:/dev/shm mine:/code/models/"},
		"Named":  {"{volumes: [{name: models, emptyDir: {}}], volumeMounts: [{name: models, mountPath: /code/models}]}", "config dshm models", "config:/code/config.yaml dshm:/dev/shm models:/code/models"},
		"Memory": {"{volumes: [{name: shm, emptyDir: {}}], volumeMounts: [{name: shm, mountPath: /dev/shm}]}", "config models shm", "config:/code/config.yaml models:/code/models shm:/dev/shm"},
		"Config": {"{volumes: [{name: c, emptyDir: {}}], volumeMounts: [{name: c, mountPath: /code/config.yaml}]}", "dshm models c", "dshm:/dev/shm models:/code/models c:/code/config.yaml"},
		"Shared": {"{volumeMounts: [{name: models, mountPath: /other}]}", "config dshm models", "config:/code/config.yaml dshm:/dev/shm models:/code/models models:/other"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := template(t, "{applications: {a: "+c.spec+"}}", "a").Spec
			var volumes, mounts []string
			for _, v := range pod.Volumes {
				volumes = append(volumes, v.Name)
			}
			for _, m := range pod.Containers[0].VolumeMounts {
				mounts = append(mounts, m.Name+":"+m.MountPath)
			}
			if strings.Join(volumes, " ") != c.volumes || strings.Join(mounts, " ") != c.mounts {
				t.Errorf("volumes %v at %v, want %s at %s", volumes, mounts, c.volumes, c.mounts)
			}
		})
	}
}

// A GPU was added beside the parts of GPUs that users named, and pods with such devices
// waited for one more while they were replaced.
func TestDevices(t *testing.T) {
	cases := map[string]struct {
		resources string
		limits    map[string]string
		surge     int
	}{
		"None":     {"{}", map[string]string{"nvidia.com/gpu": "1"}, 0},
		"CPU":      {"{requests: {cpu: 1}}", map[string]string{"nvidia.com/gpu": "1"}, 0},
		"GPUs":     {"{limits: {nvidia.com/gpu: 4}}", map[string]string{"nvidia.com/gpu": "4"}, 0},
		"MIG":      {"{limits: {nvidia.com/mig-1g.5gb: 1}}", map[string]string{"nvidia.com/mig-1g.5gb": "1"}, 0},
		"Shared":   {"{limits: {nvidia.com/gpu.shared: 1}}", map[string]string{"nvidia.com/gpu.shared": "1"}, 0},
		"AMD":      {"{limits: {amd.com/gpu: 1}}", map[string]string{"amd.com/gpu": "1"}, 0},
		"Requests": {"{requests: {nvidia.com/gpu: 2}}", map[string]string{"nvidia.com/gpu": "2"}, 0},
		"Zero":     {"{limits: {nvidia.com/gpu: 0}}", map[string]string{"nvidia.com/gpu": "0"}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := object[appsv1.Deployment](t, composed(t, "{applications: {a: {readerConfig: {device: cuda}, resources: "+c.resources+"}}}"), "deployment-a")
			got := map[string]string{}
			for resource, n := range d.Spec.Template.Spec.Containers[0].Resources.Limits {
				got[string(resource)] = n.String()
			}
			if diff := cmp.Diff(c.limits, got); diff != "" {
				t.Error(diff)
			}
			if n := d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue(); n != c.surge {
				t.Errorf("the surge is %d, want %d", n, c.surge)
			}
		})
	}
}

// A new pod waited for the volume that the old one had on another node.
func TestPodsGiveUpTheirVolume(t *testing.T) {
	for modes, surge := range map[string]int{"": 0, "ReadWriteOnce": 0, "ReadWriteMany": 1} {
		d := object[appsv1.Deployment](t, composed(t, "{applications: {a: {modelsVolume: {claim: {size: 1Gi, accessModes: ["+modes+"]}}}}}"), "deployment-a")
		if n := d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue(); n != surge {
			t.Errorf("with %q the surge is %d, want %d", modes, n, surge)
		}
	}
}

// The chart set TAKEOFF_HEADLESS for every application.
func TestReadersAreHeadless(t *testing.T) {
	const shown = "env: [{name: TAKEOFF_HEADLESS, value: 'false'}]"
	cases := map[string]struct {
		spec     string
		headless string
		probe    string // port and period of the liveness probe
	}{
		"Default":   {"{}", "true", ""},
		"Empty":     {"{livenessProbe: {}}", "true", ""},
		"Handler":   {"{livenessProbe: {httpGet: {port: 1, path: /}}}", "true", "1/0"},
		"Shown":     {"{" + shown + "}", "false", "3000/10"},
		"OtherPort": {"{" + shown + ", ports: [{name: inference, containerPort: 4000}]}", "false", "4000/10"},
		"NoPort":    {"{" + shown + ", ports: [{name: metrics, containerPort: 9000}]}", "false", "3000/10"},
		"Changed":   {"{" + shown + ", livenessProbe: {periodSeconds: 30}}", "false", "3000/30"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			reader := template(t, "{applications: {a: "+c.spec+"}}", "a").Spec.Containers[0]
			for _, v := range reader.Env {
				if v.Name == "TAKEOFF_HEADLESS" && v.Value != c.headless {
					t.Errorf("TAKEOFF_HEADLESS is %q", v.Value)
				}
			}
			got := ""
			if p := reader.LivenessProbe; p != nil {
				got = p.HTTPGet.Port.String() + "/" + strconv.Itoa(int(p.PeriodSeconds))
			}
			if got != c.probe {
				t.Errorf("the probe is %q, want %q", got, c.probe)
			}
		})
	}
}

// scalingState is what is observed of a stack with the application a.
func scalingState(t *testing.T, scaling string, observed map[string]string) *fnv1.RunFunctionResponse {
	t.Helper()
	seen := map[string]string{"deployment-gateway": onePod}
	for name, o := range observed {
		seen[name] = o
	}
	return composetest.Run(t, modelorchestra.Compose, composetest.Case{Composite: meta + "spec: {applications: {a: {scaling: " + scaling + "}}}", Observed: seen})
}

// An application at zero replicas kept its ModelOrchestra from ever being ready, and one
// that crashed was ready if it might have none.
func TestIdleApplicationsAreReady(t *testing.T) {
	const zero = "{enabled: true, spec: {minReplicaCount: 0}}"
	cases := map[string]struct {
		scaling, deployment string
		ready               bool
	}{
		"Idle":     {zero, "spec: {replicas: 0}", true},
		"IdleKEDA": {"{enabled: true, spec: {idleReplicaCount: 0}}", "spec: {replicas: 0}", true},
		"Crashing": {zero, "spec: {replicas: 1}", false},
		"Unknown":  {zero, "spec: {}", false},
		"Serving":  {zero, "{spec: {replicas: 1}, status: {readyReplicas: 1}}", true},
		"Stopped":  {"{enabled: true}", "spec: {replicas: 0}", false},
		"HPA":      {"{enabled: true, type: HorizontalPodAutoscaler, spec: {minReplicaCount: 0}}", "spec: {replicas: 0}", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := scalingState(t, c.scaling, map[string]string{"deployment-a": c.deployment})
			resource := rsp.GetDesired().GetResources()["deployment-a"].GetReady() == fnv1.Ready_READY_TRUE
			composite := rsp.GetDesired().GetComposite().GetReady() == fnv1.Ready_READY_TRUE
			if resource != c.ready || composite != c.ready {
				t.Errorf("the Deployment is ready: %t, and the ModelOrchestra: %t; want %t", resource, composite, c.ready)
			}
		})
	}
}

// A stack was not available while the controller had not seen the newest number of
// replicas of a Deployment, which serves on.
func TestServesOnWhileItScales(t *testing.T) {
	const scales = "{metadata: {generation: 2}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1}}"
	for observed, want := range map[string]reason.Reason{scales: reason.Available, strings.Replace(scales, "readyReplicas: 1", "readyReplicas: 0", 1): reason.GatewayStarting} {
		rsp := composetest.Run(t, modelorchestra.Compose, composetest.Case{
			Composite: meta + "spec: {applications: {a: {}}}", Observed: map[string]string{"deployment-gateway": observed, "deployment-a": observed},
		})
		if cond := rsp.GetConditions()[0]; cond.GetReason() != string(want) {
			t.Errorf("with %s the condition is %v, want %s", observed, cond, want)
		}
	}
}

// Turning on scaling made one replica of five, until the scaler had found that out.
func TestScalingStartsFromWhatRuns(t *testing.T) {
	const (
		scaler  = "{metadata: {name: x}}"
		applied = "{manager: apiextensions.crossplane.io/composed/1, operation: Apply, fieldsV1: {'f:spec': {'f:replicas': {}}}}"
		scales  = "{manager: keda, operation: Update, subresource: scale, fieldsV1: {'f:spec': {'f:replicas': {}}}}"
	)
	five := func(managers string) string {
		return "{metadata: {managedFields: [" + managers + "]}, spec: {replicas: 5}}"
	}
	cases := map[string]struct {
		observed map[string]string
		want     int32 // 0: it says nothing
	}{
		"New":      {nil, 0},
		"NoScaler": {map[string]string{"deployment-a": five(applied)}, 5},
		"Waiting":  {map[string]string{"deployment-a": five(applied), "scaler-a": scaler}, 5},
		"ByHand":   {map[string]string{"deployment-a": five(applied + ", {manager: kubectl, operation: Apply, fieldsV1: {'f:spec': {'f:replicas': {}}}}"), "scaler-a": scaler}, 0},
		"Scaled":   {map[string]string{"deployment-a": five(scales), "scaler-a": scaler}, 0},
		"Both":     {map[string]string{"deployment-a": five(applied + ", " + scales), "scaler-a": scaler}, 0},
		"Nobody":   {map[string]string{"deployment-a": five(""), "scaler-a": scaler}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got int32
			if n := object[appsv1.Deployment](t, scalingState(t, "{enabled: true}", c.observed), "deployment-a").Spec.Replicas; n != nil {
				got = *n
			}
			if got != c.want {
				t.Errorf("it has %d replicas, want %d", got, c.want)
			}
		})
	}
}

// The default of the most replicas was less than the fewest.
func TestMostReplicasAreNotLessThanTheFewest(t *testing.T) {
	rsp := composed(t, "{applications: {a: {scaling: {enabled: true, spec: {minReplicaCount: 8}}}, b: {scaling: {enabled: true}}}}")
	for name, want := range map[string]int64{"scaler-a": 8, "scaler-b": 4} {
		spec := object[struct {
			Spec struct {
				MaxReplicaCount int64 `json:"maxReplicaCount"`
			} `json:"spec"`
		}](t, rsp, name).Spec
		if spec.MaxReplicaCount != want {
			t.Errorf("%s has at most %d replicas, want %d", name, spec.MaxReplicaCount, want)
		}
	}
}

// A reader that cannot start was a stack that starts for ever.
func TestProblemsOfPodsAreNamed(t *testing.T) {
	const problem = "status: {atProvider: {reason: ImagePullFailed, message: no such image}}"
	for name, c := range map[string]struct {
		observed map[string]string
		want     reason.Reason
	}{
		"Starting": {map[string]string{"pods": problem}, "ImagePullFailed"},
		"Serves":   {map[string]string{"pods": problem, "deployment-gateway": onePod, "deployment-a": onePod}, reason.Available},
	} {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, modelorchestra.Compose, composetest.Case{Composite: meta + "spec: {applications: {a: {}}}", Observed: c.observed})
			if cond := rsp.GetConditions()[0]; cond.GetReason() != string(c.want) {
				t.Errorf("the condition is %v", cond)
			}
			watched := object[struct {
				Spec struct {
					ForProvider struct {
						Selector map[string]string `json:"selector"`
					} `json:"forProvider"`
				} `json:"spec"`
			}](t, rsp, "pods").Spec.ForProvider.Selector
			labels := object[appsv1.Deployment](t, rsp, "deployment-a").Spec.Template.Labels
			for key, value := range watched {
				if labels[key] != value {
					t.Errorf("the pods with labels %v are not watched by %v", labels, watched)
				}
			}
		})
	}
}
