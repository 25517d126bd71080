package workload_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/fault"
)

func pod() workload.Pod {
	return workload.Pod{
		Labels:      map[string]string{"a": "b"},
		Marks:       map[string]string{"c": "d"},
		Annotations: map[string]string{"e": "f"},
		Init:        []workload.Container{{Name: "prepare", Image: "k", Folders: []string{"bin"}}},
		Containers: []workload.Container{
			{
				Name: "main", Image: "i", Command: []string{"run"}, Args: []string{"x"}, Env: map[string]string{"Z": "1", "A": "2"}, Secrets: []string{"s"},
				SecretEnv: map[string]corev1.SecretKeySelector{"KEY": {Key: "k"}}, ProbePort: "health",
			},
			{Name: "other", Image: "o", Folders: []string{}},
		},
		Ports:        map[string]int32{"health": 2, "api": 1},
		Volumes:      map[string]string{"model": "/model", "bin": "/bin"},
		Claims:       map[string]workload.Claim{"model": {Name: "claim", ReadOnly: true}},
		PullPolicy:   corev1.PullAlways,
		GraceSeconds: 7,
	}
}

func TestTemplate(t *testing.T) {
	got := pod().Template()
	if d := cmp.Diff(map[string]string{"a": "b", "c": "d"}, got.Labels); d != "" {
		t.Error(d)
	}
	if got.Annotations["e"] != "f" || *got.Spec.TerminationGracePeriodSeconds != 7 || got.Spec.RestartPolicy != "" {
		t.Errorf("the template is %+v", got)
	}
	wantVolumes := []corev1.Volume{
		{Name: "bin", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "model", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim", ReadOnly: true}}},
	}
	if d := cmp.Diff(wantVolumes, got.Spec.Volumes); d != "" {
		t.Error(d)
	}
	wantPorts := []corev1.ContainerPort{{Name: "api", ContainerPort: 1, Protocol: "TCP"}, {Name: "health", ContainerPort: 2, Protocol: "TCP"}}
	if d := cmp.Diff(wantPorts, got.Spec.Containers[0].Ports); d != "" || got.Spec.Containers[1].Ports != nil {
		t.Errorf("ports of the first container only (-want +got):\n%s", d)
	}
}

func TestContainer(t *testing.T) {
	spec := pod().Template().Spec
	main := spec.Containers[0]
	var env []string
	for _, e := range main.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	want := []string{"POD_NAME=", "POD_NAMESPACE=", "KOLDUN_PORT_API=1", "KOLDUN_PORT_HEALTH=2", "KOLDUN_DIR_BIN=/bin", "KOLDUN_DIR_MODEL=/model", "A=2", "Z=1", "KEY="}
	if d := cmp.Diff(want, env); d != "" {
		t.Errorf("variables differ (-want +got):\n%s", d)
	}
	if main.EnvFrom[0].SecretRef.Name != "s" || main.Env[8].ValueFrom.SecretKeyRef.Key != "k" || main.ImagePullPolicy != "Always" || main.Command[0] != "run" {
		t.Errorf("the container is %+v", main)
	}
	wantMounts := []corev1.VolumeMount{{Name: "bin", MountPath: "/bin"}, {Name: "model", MountPath: "/model", ReadOnly: true}}
	if d := cmp.Diff(wantMounts, main.VolumeMounts); d != "" || len(spec.Containers[1].VolumeMounts) != 0 {
		t.Errorf("mounts differ (-want +got):\n%s", d)
	}
	if d := cmp.Diff(wantMounts[:1], spec.InitContainers[0].VolumeMounts); d != "" {
		t.Errorf("mounts of the init container differ (-want +got):\n%s", d)
	}
	ready, live := main.ReadinessProbe, main.LivenessProbe
	if ready.HTTPGet.Path != "/readyz" || live.HTTPGet.Path != "/healthz" || ready.HTTPGet.Port.IntVal != 2 || ready.PeriodSeconds != 2 || ready.FailureThreshold != 3 ||
		live.PeriodSeconds != 10 || live.FailureThreshold != 6 || ready.TimeoutSeconds != 5 || ready.SuccessThreshold != 1 || spec.Containers[1].ReadinessProbe != nil {
		t.Errorf("probes are %+v and %+v", ready, live)
	}
}

// TestPodsAreRestricted holds the restricted profile of Kubernetes.
func TestPodsAreRestricted(t *testing.T) {
	spec := pod().Template().Spec
	s := spec.SecurityContext
	if !*s.RunAsNonRoot || *s.RunAsUser != 65532 || *s.RunAsGroup != 65532 || *s.FSGroup != 65532 || s.SeccompProfile.Type != "RuntimeDefault" || *spec.AutomountServiceAccountToken || *spec.EnableServiceLinks {
		t.Errorf("the pod is %+v", s)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !*s.RunAsNonRoot || s.Capabilities.Drop[0] != "ALL" || s.SeccompProfile.Type != "RuntimeDefault" {
			t.Errorf("container %s is %+v", c.Name, s)
		}
	}
}

func TestScheduling(t *testing.T) {
	p := pod()
	p.Scheduling = &v1.Scheduling{
		NodeSelector: map[string]string{"n": "1"}, Tolerations: []corev1.Toleration{{Key: "t"}}, Affinity: &corev1.Affinity{},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "p"}}, ServiceAccountName: "sa", PriorityClassName: "pc", RuntimeClassName: "rc",
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone"}, {TopologyKey: "host", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}}}},
	}
	spec := p.Template().Spec
	if spec.NodeSelector["n"] != "1" || spec.Tolerations[0].Key != "t" || spec.Affinity == nil || spec.ImagePullSecrets[0].Name != "p" || spec.ServiceAccountName != "sa" || spec.PriorityClassName != "pc" || *spec.RuntimeClassName != "rc" {
		t.Errorf("the pod is %+v", spec)
	}
	if c := spec.TopologySpreadConstraints; c[0].LabelSelector.MatchLabels["a"] != "b" || c[1].LabelSelector.MatchLabels["x"] != "y" {
		t.Errorf("constraints are %+v", c)
	}
	p.Group = map[string]string{"g": "1"}
	if c := p.Template().Spec.TopologySpreadConstraints; c[0].LabelSelector.MatchLabels["g"] != "1" {
		t.Errorf("the pods of a group spread by %+v", c[0].LabelSelector)
	}
	p.Marks = nil
	if d := cmp.Diff(p.Labels, p.Template().Labels); d != "" {
		t.Error(d)
	}
}

func TestKinds(t *testing.T) {
	d := workload.Deployment("ns", "n", 3, pod())
	if r := d.Spec.Strategy.RollingUpdate; d.Kind != "Deployment" || *d.Spec.Replicas != 3 || r.MaxUnavailable.IntVal != 0 || r.MaxSurge.IntVal != 1 || d.Spec.Selector.MatchLabels["a"] != "b" || len(d.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("the Deployment is %+v", d)
	}
	s := workload.StatefulSet("ns", "n", 2, pod())
	if s.Kind != "StatefulSet" || *s.Spec.Replicas != 2 || s.Spec.ServiceName != "n" || s.Spec.PodManagementPolicy != "Parallel" || len(s.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("the StatefulSet is %+v", s)
	}
	j := workload.Job("ns", "n", 4, pod())
	if j.Kind != "Job" || *j.Spec.BackoffLimit != 4 || j.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("the Job is %+v", j)
	}
	service := workload.Service("ns", "n", corev1.ServiceTypeNodePort, map[string]string{"a": "b"}, map[string]int32{"z": 2, "a": 1})
	wantPorts := []corev1.ServicePort{{Name: "a", Port: 1, Protocol: "TCP"}, {Name: "z", Port: 2, Protocol: "TCP"}}
	for i := range wantPorts {
		wantPorts[i].TargetPort.Type, wantPorts[i].TargetPort.StrVal = 1, wantPorts[i].Name
	}
	if d := cmp.Diff(wantPorts, service.Spec.Ports); d != "" || service.Spec.Type != "NodePort" || service.Spec.Selector["a"] != "b" || service.Spec.ClusterIP != "" {
		t.Errorf("the Service is %+v:\n%s", service, d)
	}
	if h := workload.Headless("ns", "n", nil, nil); h.Spec.ClusterIP != "None" || !h.Spec.PublishNotReadyAddresses {
		t.Errorf("the headless Service is %+v", h)
	}
}

// TestFinalExits compares with the exit statuses of package fault: a Job ends
// at once with each that no retry can mend.
func TestFinalExits(t *testing.T) {
	rule := workload.Job("ns", "n", 1, pod()).Spec.PodFailurePolicy.Rules[0]
	var want []int32
	for _, kind := range []fault.Kind{
		fault.Internal, fault.Invalid, fault.Unsupported, fault.Denied, fault.NotFound, fault.Quota, fault.Corrupt, fault.Conflict, fault.Transient, fault.Interrupted,
	} {
		err := fault.Errorf(kind, "it ends")
		if status := int32(fault.ExitCode(err)); fault.Final(err) && !slices.Contains(want, status) {
			want = append(want, status)
		}
	}
	if d := cmp.Diff(want, rule.OnExitCodes.Values); d != "" || rule.Action != "FailJob" || rule.OnExitCodes.Operator != "In" {
		t.Errorf("the rule is %+v:\n%s", rule, d)
	}
}

func TestGuardAndBudget(t *testing.T) {
	guard := workload.Guard("ns", "n", map[string]string{"a": "b"}, []workload.Door{{Port: 1}, {Port: 2, Peers: []networkingv1.NetworkPolicyPeer{workload.Pods(map[string]string{"p": "q"}), workload.Network("10.0.0.0/8")}}}, nil)
	rules := guard.Spec.Ingress
	if guard.Spec.PolicyTypes[0] != "Ingress" || guard.Spec.PodSelector.MatchLabels["a"] != "b" || len(rules) != 2 || rules[0].Ports[0].Port.IntVal != 1 || rules[0].From != nil {
		t.Errorf("the policy is %+v", guard)
	}
	if from := rules[1].From; rules[1].Ports[0].Port.IntVal != 2 || from[0].PodSelector.MatchLabels["p"] != "q" || from[1].IPBlock.CIDR != "10.0.0.0/8" || *rules[1].Ports[0].Protocol != "TCP" {
		t.Errorf("the second door is %+v", rules[1])
	}
	budget := workload.Budget("ns", "n", map[string]string{"a": "b"})
	if budget.Spec.MaxUnavailable.IntVal != 1 || budget.Spec.Selector.MatchLabels["a"] != "b" || *budget.Spec.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow {
		t.Errorf("the budget is %+v", budget)
	}
}

func TestOption(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"Pair":    {[]string{"--a", "1"}, "1"},
		"Equals":  {[]string{"--b", "--a=2"}, "2"},
		"Last":    {[]string{"--a=1", "--a", "3"}, "3"},
		"NoValue": {[]string{"x", "--a"}, ""},
		"Prefix":  {[]string{"--ab=1"}, ""},
		"None":    {nil, ""},
	} {
		if got := workload.Option(c.args, "--a"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	want := map[string]string{
		"app.kubernetes.io/name": "koldun", "app.kubernetes.io/managed-by": "koldun", "koldun.gorizond.io/component": "root",
		"koldun.gorizond.io/dllama": "d", "app.kubernetes.io/instance": "d", "app.kubernetes.io/component": "root",
	}
	if d := cmp.Diff(want, workload.Labels("root", "dllama", "d")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"koldun.gorizond.io/dllama": "d"}, workload.Owner("dllama", "d")); d != "" {
		t.Error(d)
	}
}

func TestServerContainer(t *testing.T) {
	p := workload.Pod{
		Containers: []workload.Container{{
			Name: "server", Env: map[string]string{"A": "ours", "B": "ours"}, Fields: map[string]string{"IP": "status.podIP"},
			Vars:        []corev1.EnvVar{{Name: "A", Value: "claimed"}, {Name: "C", Value: "claimed"}},
			SidecarPort: "llm", Startup: 15 * time.Minute, User: new(int64),
		}},
		Volumes: map[string]string{"key": "/key"},
		Sources: map[string]corev1.VolumeSource{"key": {Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
		Ports:   map[string]int32{"llm": 3},
	}
	spec := p.Template().Spec
	c := spec.Containers[0]
	var got []string
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			e.Value = e.ValueFrom.FieldRef.FieldPath
		}
		got = append(got, e.Name+"="+e.Value)
	}
	want := []string{"POD_NAME=metadata.name", "POD_NAMESPACE=metadata.namespace", "KOLDUN_PORT_LLM=3", "KOLDUN_DIR_KEY=/key", "A=claimed", "B=ours", "IP=status.podIP", "C=claimed"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, probe := range []struct {
		*corev1.Probe
		path    string
		seconds int32
	}{{c.StartupProbe, "/engine/readyz", 900}, {c.LivenessProbe, "/engine/livez", 360}} {
		if probe.Probe == nil || probe.HTTPGet.Path != probe.path || probe.HTTPGet.Port.IntVal != 3 || probe.PeriodSeconds*probe.FailureThreshold != probe.seconds {
			t.Errorf("the probe of %s is %+v", probe.path, probe.Probe)
		}
	}
	if hook := c.Lifecycle.PreStop.HTTPGet; hook.Path != "/drained" || hook.Port.IntVal != 3 || c.ReadinessProbe != nil {
		t.Errorf("the container stops after %+v, and is ready after %+v", hook, c.ReadinessProbe)
	}
	if *c.SecurityContext.RunAsUser != 0 || *c.SecurityContext.RunAsNonRoot || *c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.ReadOnlyRootFilesystem {
		t.Errorf("the security context is %+v", c.SecurityContext)
	}
	if spec.Volumes[0].Secret == nil || spec.Volumes[0].EmptyDir != nil {
		t.Errorf("the volume is %+v", spec.Volumes[0])
	}
}

func TestGuardOpensAllPorts(t *testing.T) {
	got := workload.Guard("ns", "n", nil, []workload.Door{{Peers: []networkingv1.NetworkPolicyPeer{workload.Pods(map[string]string{"a": "b"})}}}, nil)
	if rule := got.Spec.Ingress[0]; rule.Ports != nil || len(rule.From) != 1 {
		t.Errorf("the rule is %+v", rule)
	}
}
