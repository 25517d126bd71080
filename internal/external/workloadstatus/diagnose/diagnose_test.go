package diagnose_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
)

var began = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// pod is a root's pod, bound to a node, whose container is being created.
func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "tiny-root-0", UID: "pod", CreationTimestamp: began,
			Labels: map[string]string{"koldun.gorizond.io/dllama": "tiny", "koldun.gorizond.io/component": "root"},
		},
		Spec: corev1.PodSpec{
			NodeName: "n", RestartPolicy: corev1.RestartPolicyAlways,
			Containers: []corev1.Container{
				{Name: "engine", Image: "example.org/engine:1", Command: []string{"/koldun/koldun"}, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}},
				{Name: "llm", Image: "koldun:1"},
			},
		},
		Status: corev1.PodStatus{
			Phase:      corev1.PodPending,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "engine", State: waitingState("ContainerCreating", "")},
				{Name: "llm", State: waitingState("ContainerCreating", "")},
			},
		},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// orchestrated is of a ModelOrchestra.
func orchestrated(component string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"koldun.gorizond.io/modelorchestra": "stack", "app.kubernetes.io/component": component}
	}
}

func waitingState(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State = waitingState(reason, message) }
}

// died has the container run again after it has ended.
func died(restarts int32, t corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		s := &p.Status.ContainerStatuses[0]
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		s.LastTerminationState.Terminated, s.RestartCount = &t, restarts
	}
}

func looping(t corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		died(5, t)(p)
		waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container")(p)
	}
}

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.ContainerStatuses = "", nil
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message})
	}
}

func volume(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "model", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

func labelled(owner, component string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"koldun.gorizond.io/" + owner: "tiny", "koldun.gorizond.io/component": component}
	}
}

// hashed gives it the label of a ReplicaSet.
func hashed(hash string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"koldun.gorizond.io/dllama": "tiny", "pod-template-hash": hash}
	}
}

// readyUntil has it stop being ready some time after its container has started.
func readyUntil(after time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(began.Add(after))
		p.Status.ContainerStatuses[0].State.Running.StartedAt = began
	}
}

// named gives the first container another name.
func named(container string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Name = container
		if len(p.Status.ContainerStatuses) > 0 {
			p.Status.ContainerStatuses[0].Name = container
		}
	}
}

func ready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionTrue }

// job makes it the pod of a Job that has failed.
func job(t corev1.ContainerStateTerminated) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		labelled("model", "convert")(p)
		p.Spec.RestartPolicy, p.Status.Phase = corev1.RestartPolicyNever, corev1.PodFailed
		p.Spec.Containers[0].Name, p.Status.ContainerStatuses[0].Name = "convert", "convert"
		p.Spec.Containers[0].Command = nil
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &t}
	}
}

func of(uid, name string, after time.Duration, phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.UID, p.Name, p.CreationTimestamp, p.Status.Phase = types.UID(name), name, metav1.NewTime(began.Add(after)), phase
		p.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(uid), Controller: &yes}}
	}
}

func event(uid, reason, message string, after time.Duration) *corev1.Event {
	return &corev1.Event{
		Type: corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(began.Add(after)),
		InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)},
	}
}

// evictionOf is the warning of a kubelet.
func evictionOf(pod, uid, message string) *corev1.Event {
	e := event(uid, "Evicted", message, 0)
	e.InvolvedObject.Kind, e.InvolvedObject.Name = "Pod", pod
	return e
}

func one(p *corev1.Pod, events ...*corev1.Event) diagnose.Scene {
	return diagnose.Scene{Pods: []*corev1.Pod{p}, Events: events}
}

func set(replicas, wanted int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "tiny-root", UID: "set", CreationTimestamp: began},
		Spec:       appsv1.StatefulSetSpec{Replicas: &wanted}, Status: appsv1.StatefulSetStatus{Replicas: replicas},
	}
}

// diagnosis is a case.
type diagnosis struct {
	scene  diagnose.Scene
	reason string // empty: there is no problem
	says   string // the complete message
	pod    string
}

//nolint:maintidx // a table
func diagnoses() map[string]diagnosis {
	end := func(code int32, reason, message string) corev1.ContainerStateTerminated {
		return corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}
	}
	oom := end(137, "OOMKilled", "")
	created := "create Pod tiny-root-0 in StatefulSet tiny-root failed error: "
	return map[string]diagnosis{
		"Nothing":  {},
		"Creating": {scene: one(pod())},
		"Ready":    {scene: one(pod(looping(oom), ready))},
		"Deleted":  {scene: one(pod(looping(oom), func(p *corev1.Pod) { p.DeletionTimestamp = &began }))},

		"PullUnauthorized": {
			scene:  one(pod(waiting("ErrImagePull", `failed to pull and unpack image "example.org/engine:1": failed to resolve reference "example.org/engine:1": failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized`))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": unauthorized; set spec.scheduling.imagePullSecrets to a Secret with credentials of the registry, or correct spec.rootImage`,
		},
		"PullDockerHub": {
			scene:  one(pod(waiting("ErrImagePull", "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": unauthorized; set spec.scheduling.imagePullSecrets to a Secret with credentials of the registry, or correct spec.rootImage`,
		},
		"PullBackOffWithEvent": {
			scene: one(pod(waiting("ImagePullBackOff", `Back-off pulling image "example.org/engine:1"`)),
				event("pod", "Failed", "Error: ErrImagePull", 3*time.Second),
				event("pod", "Failed", `Failed to pull image "example.org/engine:1": example.org/engine:1: not found`, 2*time.Second)),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": not found; correct spec.rootImage`,
		},
		"PullUnreachable": {
			scene:  one(pod(waiting("ErrImagePull", `Head "https://example.org/v2/engine/manifests/1": dial tcp: lookup example.org on 10.0.0.10:53: no such host`), labelled("ingress", "dispatcher"))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the registry cannot be reached; check DNS, proxy and firewall of the nodes, or name an image of a mirror`,
		},
		"PullLimited": {
			scene:  one(pod(waiting("ErrImagePull", "429 Too Many Requests - toomanyrequests: You have reached your unauthenticated pull rate limit"), labelled("ingress", "gateway"))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the registry limits the rate of pulls; set spec.backend.backendScheduling.imagePullSecrets to a Secret with credentials of the registry, or correct spec.backend.image`,
		},
		"PullOfReader": {
			scene:  one(pod(waiting("ErrImagePull", "401 Unauthorized"), orchestrated("application-chat"))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": unauthorized; set spec.imagePullSecrets to a Secret with credentials of the registry, or correct spec.applications.chat.image`,
		},
		"MemoryOfGateway": {
			scene:  one(pod(looping(oom), orchestrated("gateway"))),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.gateway.resources.limits.memory`,
		},
		"PullOtherProcessor": {
			scene:  one(pod(waiting("ErrImagePull", "no match for platform in manifest: not found"))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": there is none for the processor of the node; name an image for that processor, or set spec.scheduling.nodeSelector to nodes of another`,
		},
		"PullDiskFull": {
			scene:  one(pod(waiting("ErrImagePull", "write /var/lib/containerd: no space left on device"))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the disk of the node is full; free the disk of the node`,
		},
		"PullUnknown": {
			scene:  one(pod(waiting("ErrImagePull", "rpc error: code = Unknown desc = strange: teapot"))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": teapot; check spec.rootImage and the registry`,
		},
		"PullUnknownBackOff": {
			scene:  one(pod(waiting("ImagePullBackOff", `Back-off pulling image "x"`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the node does not say why; check spec.rootImage and the registry`,
		},
		"PullReset": {
			scene:  one(pod(waiting("ErrImagePull", `failed to copy: httpReadSeeker: failed open: read tcp 10.244.0.9:40312->3.5.6.7:403: read: connection reset by peer`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the registry cannot be reached; check DNS, proxy and firewall of the nodes, or name an image of a mirror`,
		},
		"PullTokenTimeout": {
			scene:  one(pod(waiting("ErrImagePull", `failed to authorize: failed to fetch anonymous token: unauthorized: Get "https://auth.example.org/token": dial tcp 10.0.0.1:443: i/o timeout`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the registry cannot be reached; check DNS, proxy and firewall of the nodes, or name an image of a mirror`,
		},
		"PullDigestWithNumbers": {
			scene:  one(pod(waiting("ErrImagePull", `failed to copy sha256:4010403404429aaaa401: 429/401/403/404: short read`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": short read; check spec.rootImage and the registry`,
		},
		"PullServerError": {
			scene:  one(pod(waiting("ErrImagePull", `unexpected status from GET request to https://example.org/v2/404: 503 Service Unavailable`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": 503 Service Unavailable; check spec.rootImage and the registry`,
		},
		"PullForbidden": {
			scene:  one(pod(waiting("ErrImagePull", `unexpected status from HEAD request to https://example.org/v2/e/manifests/1: 403 Forbidden`))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": unauthorized; set spec.scheduling.imagePullSecrets to a Secret with credentials of the registry, or correct spec.rootImage`,
		},
		"PullDenied": {
			scene:  one(pod(waiting("ErrImagePull", `reading manifest 1: denied: requested access to the resource is denied`))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": unauthorized; set spec.scheduling.imagePullSecrets to a Secret with credentials of the registry, or correct spec.rootImage`,
		},
		"UnpackDenied": {
			scene:  one(pod(waiting("ErrImagePull", `failed to extract layer sha256:ab: mount /var/lib/containerd/tmp: permission denied`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": permission denied; check spec.rootImage and the registry`,
		},
		"PullHelperMissing": {
			scene:  one(pod(waiting("ErrImagePull", `exec: "docker-credential-x": executable file not found in $PATH`))),
			reason: diagnose.ImagePullFailed, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": executable file not found in $PATH; check spec.rootImage and the registry`,
		},
		"PullOwnImage": {
			scene: one(pod(func(p *corev1.Pod) {
				p.Status.ContainerStatuses[1].State = waitingState("ErrImagePull", "koldun:1: not found")
			})),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "koldun:1": not found; correct the image`,
		},
		"InvalidName": {
			scene:  one(pod(waiting("InvalidImageName", "couldn't parse image name"), labelled("worker", "worker"))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": it is no valid name; correct spec.image`,
		},
		"NeverPull": {
			scene:  one(pod(waiting("ErrImageNeverPull", `Container image "x" is not present with pull policy of Never`))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": the node does not have it, and imagePullPolicy is Never; set imagePullPolicy to IfNotPresent, or load the image on the node`,
		},

		"SecretMissing": {
			scene:  one(pod(waiting("CreateContainerConfigError", `secret "hub" not found`))),
			reason: diagnose.ConfigMissing, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": secret "hub" not found; create it, or correct the reference to it`,
		},
		"KeyMissing": {
			scene:  one(pod(waiting("CreateContainerConfigError", "couldn't find key token in Secret ns/hub"))),
			reason: diagnose.ConfigMissing, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": couldn't find key token in Secret ns/hub; create it, or correct the reference to it`,
		},
		"RunsAsRoot": {
			scene:  one(pod(waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"))),
			reason: diagnose.ContainerNotStarted, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": image "example.org/engine:1" runs as root; name an image that runs as another user, or set runAsUser of the server`,
		},
		"NoProgram": {
			scene:  one(pod(waiting("RunContainerError", `failed to create containerd task: OCI runtime create failed: exec: "/koldun/koldun": stat /koldun/koldun: no such file or directory`))),
			reason: diagnose.ProgramMissing, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": image "example.org/engine:1" does not hold program "/koldun/koldun"; set spec.rootImage to one that does`,
		},
		"NoProgramOfImage": {
			scene: one(pod(looping(end(128, "StartError", `exec: "serve": executable file not found in $PATH`)), func(p *corev1.Pod) { p.Spec.Containers[0].Command = nil })),

			reason: diagnose.ProgramMissing, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": image "example.org/engine:1" does not hold its program; set spec.rootImage to one that does`,
		},
		"OtherProcessor": {
			scene:  one(pod(looping(end(1, "ContainerCannotRun", "exec /x: exec format error")))),
			reason: diagnose.ContainerNotStarted, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": image "example.org/engine:1" is built for another processor; name one for that of the node, or set spec.scheduling.nodeSelector`,
		},
		"CreateContainerError": {
			scene:  one(pod(waiting("CreateContainerError", "context deadline exceeded"))),
			reason: diagnose.ContainerNotStarted, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot start container "engine": context deadline exceeded; see kubectl describe pod tiny-root-0`,
		},

		"EngineMissing": {
			scene:  one(pod(died(1, end(12, "Error", "cannot supervise program \"dllama-api\": executable file not found in $PATH: name an image that holds dllama\n")))),
			reason: diagnose.ProgramMissing, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": image "example.org/engine:1" cannot be used in container "engine": cannot supervise program "dllama-api": executable file not found in $PATH: name an image that holds dllama`,
		},
		"GatewayArguments": {
			scene:  one(pod(labelled("ingress", "gateway"), died(1, end(10, "Error", "cannot read the arguments: unknown flag --x\n")))),
			reason: diagnose.InputRefused, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" ended: cannot read the arguments: unknown flag --x; correct spec.backend.extraArgs`,
		},
		"StorageFull": {
			scene:  one(pod(died(1, end(13, "Error", "cannot write file \"m\": no space left on device")))),
			reason: diagnose.StorageFull, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" ended: cannot write file "m": no space left on device; enlarge the volume or the quota of the bucket, or delete models`,
		},
		"OfAnotherProgram": {scene: one(pod(died(1, end(12, "Error", "words")), func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"python"} }))},
		"WithoutWords":     {scene: one(pod(died(1, end(12, "Error", ""))))},
		"EndedOnce":        {scene: one(pod(died(1, end(1, "Error", ""))))},
		"EndedWell":        {scene: one(pod(died(5, end(0, "Completed", ""))))},
		"EndedTwice": {
			scene:  one(pod(died(2, end(1, "Error", "")))),
			reason: diagnose.CrashLooping, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" ends again and again, with exit status 1; see kubectl logs --previous tiny-root-0 -c engine`,
		},
		"EndedBeforeItWasReady":      {scene: one(pod(died(2, end(1, "Error", "")), readyUntil(time.Hour)))},
		"RefusedBeforeItWasReady":    {scene: one(pod(died(1, end(11, "Error", "denied")), readyUntil(time.Hour)))},
		"OutOfMemoryBeforeItIsReady": {scene: one(pod(died(5, oom), readyUntil(time.Hour)))},
		"EndedSinceItWasReady": {
			scene:  one(pod(died(2, end(1, "Error", "")), readyUntil(-time.Second))),
			reason: diagnose.CrashLooping, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" ends again and again, with exit status 1; see kubectl logs --previous tiny-root-0 -c engine`,
		},
		"EndedAfterALongRun": {scene: one(pod(died(7, corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", StartedAt: began, FinishedAt: metav1.NewTime(began.Add(time.Hour)),
		})))},
		"EndsWellAfterFailures": {scene: one(pod(died(5, end(1, "Error", "")), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
		}))},
		"CrashLoop": {
			scene:  one(pod(looping(end(75, "Error", "cannot connect to NATS \"nats://x\":\n refused")))),
			reason: diagnose.CrashLooping, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" ends again and again, with exit status 75: cannot connect to NATS "nats://x": refused; see kubectl logs --previous tiny-root-0 -c engine`,
		},
		"OutOfMemoryOnce": {scene: one(pod(died(1, oom)))},
		"OutOfMemoryTwice": {
			scene: one(pod(died(1, oom), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &oom}
			})),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"OutOfMemoryOfReplicas": {
			scene:  diagnose.Scene{Pods: []*corev1.Pod{pod(died(1, oom), of("s", "a", 0, corev1.PodRunning)), pod(died(1, oom), of("s", "b", 0, corev1.PodRunning))}},
			reason: diagnose.OutOfMemory, pod: "a",
			says: `Pod "a": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"OutOfMemoryOnceAndReadySince": {scene: diagnose.Scene{Pods: []*corev1.Pod{
			pod(died(1, oom), of("s", "a", 0, corev1.PodRunning)), pod(died(1, oom), of("s", "b", 0, corev1.PodRunning), ready),
		}}},
		"OutOfMemory": {
			scene:  one(pod(died(2, oom))),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"OutOfMemoryOfWorker": {
			scene:  one(pod(looping(oom), labelled("dllama", "worker"))),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.workerResources.limits.memory`,
		},
		"OutOfMemoryOfAIDeployment": {
			scene:  one(pod(died(2, oom), labelled("ai-deployment", ""), named("serving"))),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "serving" needs more than its memory limit of 64Mi; raise spec.deployment.resources.limits.memory`,
		},
		"UnschedulableOfAIDeployment": {
			scene:  one(pod(unschedulable("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 Insufficient nvidia.com/gpu."), labelled("ai-deployment", ""), named("serving"))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": Insufficient nvidia.com/gpu, didn't match Pod's node affinity/selector; lower the requests of nvidia.com/gpu in spec.deployment.resources, or add a node with more; correct spec.deployment.nodeSelector or affinity, or label a node`,
		},
		"PullOfContainerOfATemplate": {
			scene:  one(pod(waiting("InvalidImageName", "couldn't parse image name"), labelled("ai-deployment", ""), named("beside"))),
			reason: diagnose.ImageUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" cannot pull image "example.org/engine:1": it is no valid name; correct the image in spec.deployment.template`,
		},
		"OutOfMemoryOfNode": {
			scene:  one(pod(died(1, oom), func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} })),
			reason: diagnose.NodeOutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": the kernel ended container "engine" because the node has no memory left; run it on a node with more`,
		},
		"OutOfMemoryOfOthers": {
			scene:  one(pod(died(2, oom), func(p *corev1.Pod) { p.Labels = nil })),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise it`,
		},
		"OutOfMemoryOfJobWithoutLimit": {scene: diagnose.Scene{Pods: []*corev1.Pod{
			pod(job(oom), of("j", "first", 0, corev1.PodFailed), func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }),
			pod(of("j", "second", time.Minute, corev1.PodRunning)),
		}}},
		"OutOfMemoryOfJobOnce": {scene: diagnose.Scene{
			Jobs: []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{UID: "j"}, Status: batchv1.JobStatus{Active: 1}}},
			Pods: []*corev1.Pod{pod(job(oom), of("j", "first", 0, corev1.PodFailed)), pod(of("j", "second", time.Minute, corev1.PodRunning))},
		}},
		"OutOfMemoryOfJob": {
			scene: diagnose.Scene{
				Jobs: []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{UID: "j"}, Status: batchv1.JobStatus{
					Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}},
				}}},
				Pods: []*corev1.Pod{pod(job(oom), of("j", "only", 0, corev1.PodFailed))},
			},
			reason: diagnose.OutOfMemory, pod: "only",
			says: `Pod "only": container "convert" needs more than its memory limit of 64Mi; raise spec.conversion.memory`,
		},
		"OutOfMemoryOfJobAgain": {
			scene:  diagnose.Scene{Pods: []*corev1.Pod{pod(job(oom), of("j", "first", 0, corev1.PodFailed)), pod(job(oom), of("j", "second", time.Minute, corev1.PodFailed)), pod(of("j", "third", time.Hour, corev1.PodRunning))}},
			reason: diagnose.OutOfMemory, pod: "second",
			says: `Pod "second": container "convert" needs more than its memory limit of 64Mi; raise spec.conversion.memory`,
		},
		"JobRefused": {
			scene:  one(pod(job(end(11, "Error", "cannot read \"x\": 403 Forbidden")))),
			reason: diagnose.CredentialsRefused, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "convert" ended: cannot read "x": 403 Forbidden`,
		},
		"JobTriesAgain": {scene: one(pod(job(end(75, "Error", "cannot connect"))))},
		"JobReplaced": {scene: diagnose.Scene{Pods: []*corev1.Pod{
			pod(job(end(13, "Error", "full")), of("j", "first", 0, corev1.PodFailed)), pod(of("j", "second", time.Minute, corev1.PodRunning)),
		}}},
		"InitContainer": {
			scene: one(pod(func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{{Name: "fetch"}}
				last := end(11, "Error", "cannot fetch \"s3://b/m\": denied")
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", State: waitingState("CrashLoopBackOff", ""), LastTerminationState: corev1.ContainerState{Terminated: &last}}}
			})),
			reason: diagnose.CredentialsRefused, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "fetch" ended: cannot fetch "s3://b/m": denied`,
		},

		"NoMemory": {
			scene:  one(pod(unschedulable("0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory. preemption: 0/3 nodes are available: 2 No preemption victims found."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": Insufficient memory, had untolerated taint {node-role.kubernetes.io/control-plane: }; lower the requests of memory in spec.rootResources, or add a node with more; add spec.scheduling.tolerations`,
		},
		"NoGPU": {
			scene:  one(pod(unschedulable("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": Insufficient nvidia.com/gpu; lower the requests of nvidia.com/gpu in spec.rootResources, or add a node with more`,
		},
		"Selector": {
			scene:  one(pod(unschedulable("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": didn't match Pod's node affinity/selector; correct spec.scheduling.nodeSelector or affinity, or label a node`,
		},
		"Spread": {
			scene:  one(pod(unschedulable("0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": didn't match pod topology spread constraints; relax spec.scheduling.affinity or topologySpreadConstraints, or add nodes`,
		},
		"NoNodes": {
			scene:  one(pod(unschedulable("no nodes available to schedule pods"), func(p *corev1.Pod) { p.Labels = nil })),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": no nodes available to schedule pods; add nodes`,
		},
		"TooManyPods": {
			scene:  one(pod(unschedulable("0/1 nodes are available: 1 Too many pods."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": Too many pods; add nodes`,
		},
		"UnknownFilter": {
			scene:  one(pod(unschedulable("0/1 nodes are available: 1 node(s) were odd."))),
			reason: diagnose.Unschedulable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": were odd; see kubectl describe pod tiny-root-0`,
		},
		"ClaimUnbound": {
			scene: one(pod(volume("files"), unschedulable("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")), &corev1.Event{
				Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: `storageclass.storage.k8s.io "fast" not found`,
				InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Name: "files"}, EventTime: metav1.NewMicroTime(began.Time),
			}),
			reason: diagnose.VolumeUnavailable, pod: "tiny-root-0",
			says: `Pod "tiny-root-0" waits for PersistentVolumeClaim "files": storageclass.storage.k8s.io "fast" not found; name a StorageClass that exists, or create the volume`,
		},
		"ClaimMissing": {
			scene:  one(pod(volume("files"), unschedulable(`0/1 nodes are available: persistentvolumeclaim "files" not found.`))),
			reason: diagnose.VolumeUnavailable, pod: "tiny-root-0",
			says: `No node can run pod "tiny-root-0": persistentvolumeclaim "files" not found; create the PersistentVolumeClaim, or a volume for it: see kubectl get pvc`,
		},
		"MountFailed": {
			scene: one(pod(), event("pod", "FailedMount", "Unable to attach or mount volumes: unmounted volumes=[key]", time.Minute),
				event("pod", "FailedMount", `MountVolume.SetUp failed for volume "key" : secret "keys" not found`, time.Second),
				event("another", "FailedMount", "of another pod", time.Hour)),
			reason: diagnose.VolumeUnavailable, pod: "tiny-root-0",
			says: `The node of pod "tiny-root-0" cannot mount its volumes: MountVolume.SetUp failed for volume "key" : secret "keys" not found; create what is missing, or correct the reference to it`,
		},
		"MountedLater": {scene: one(pod(waiting("PodInitializing", ""), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[1].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}), event("pod", "FailedMount", "earlier", time.Second))},
		"MountedBeforeThePull": {scene: one(pod(func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue})
		}), event("pod", "FailedMount", "earlier", time.Second), event("pod", "FailedCreatePodSandBox", "earlier", time.Second))},
		"MountFailsOften": {
			scene:  one(pod(), event("pod", "FailedMount", "(combined from similar events): MountVolume.SetUp failed for volume \"v\" : mount failed: exit status 32, RequestID: 7G2K: Running scope as unit: run-r1234abcd.scope", time.Minute)),
			reason: diagnose.VolumeUnavailable, pod: "tiny-root-0",
			says: `The node of pod "tiny-root-0" cannot mount its volumes: MountVolume.SetUp failed for volume "v" : mount failed: exit status 32: Running scope as unit: run-….scope; create what is missing, or correct the reference to it`,
		},
		"NoNetwork": {
			scene:  one(pod(), event("pod", "FailedCreatePodSandBox", "plugin type=\"calico\" failed", time.Second)),
			reason: diagnose.VolumeUnavailable, pod: "tiny-root-0",
			says: `The node of pod "tiny-root-0" cannot start it: plugin type="calico" failed; check the network plug-in and the runtime of the node`,
		},
		"NoMemoryForThePod": { // as containerd 1.6 with runc 1.1 reports it
			scene:  one(pod(), event("pod", "FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown", time.Second)),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"NoMemoryForThePodOfCRIO": {
			scene:  one(pod(), event("pod", "FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: code = Unknown desc = pod set memory limit 1048576 too low; should be at least 12582912", time.Second)),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"NoMemoryForTheStart": {
			scene: one(pod(waiting("CrashLoopBackOff", ""), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown"}
			})),
			reason: diagnose.OutOfMemory, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
		"Argument": {
			scene: diagnose.Scene{Pods: []*corev1.Pod{pod(labelled("worker", "worker"), func(p *corev1.Pod) {
				p.Spec.Containers[0].Command = []string{"serve"}
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "Error: unknown flag: --fast"}}
			})}},
			reason: diagnose.ArgumentRefused, pod: "tiny-root-0",
			says: `Pod "tiny-root-0": the program of container "engine" refuses an argument (exit status 1): Error: unknown flag: --fast; correct spec.args`,
		},
		"Evicted": {
			scene: one(pod(func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
			})),
			reason: diagnose.PodEvicted, pod: "tiny-root-0",
			says: `The node ended pod "tiny-root-0" (Evicted): The node was low on resource: memory; request as much memory as the pod uses in spec.rootResources, or free memory of the node`,
		},
		"EvictedBefore": {
			scene:  one(pod(), evictionOf("tiny-root-0", "before", "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ")),
			reason: diagnose.PodEvicted, pod: "tiny-root-0",
			says: `The node ended pod "tiny-root-0" (Evicted): Pod ephemeral local storage usage exceeds the total limit of containers 1Mi; raise the limit of ephemeral-storage in spec.rootResources, or the size of the volume`,
		},
		"EvictedBeforeAndReady": {scene: one(pod(ready), evictionOf("tiny-root-0", "before", ""))},
		"EvictedOther":          {scene: one(pod(), evictionOf("tiny-root-1", "before", ""))},
		"EvictedItself":         {scene: one(pod(), evictionOf("tiny-root-0", "pod", ""))},
		"EvictedLongBefore": {scene: one(pod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(began.Add(time.Hour)) }),
			evictionOf("tiny-root-0", "before", ""))},
		"EvictedAndReplaced": {scene: diagnose.Scene{Pods: []*corev1.Pod{
			pod(of("rs", "old", 0, corev1.PodFailed), func(p *corev1.Pod) { p.Status.Reason = "Evicted" }), pod(of("rs", "new", time.Minute, corev1.PodPending)),
		}}},
		"EvictedBeforeTheRollout": {scene: diagnose.Scene{Pods: []*corev1.Pod{
			pod(of("old", "old", 0, corev1.PodFailed), hashed("a"), func(p *corev1.Pod) { p.Status.Reason = "Evicted" }),
			pod(of("new", "new", time.Minute, corev1.PodRunning), hashed("b"), ready),
		}}},
		"EvictedAndEnoughAreReady": {scene: diagnose.Scene{
			Pods: []*corev1.Pod{
				pod(of("rs", "old", 0, corev1.PodRunning), hashed("a"), ready),
				pod(of("rs", "surplus", time.Minute, corev1.PodFailed), hashed("a"), func(p *corev1.Pod) { p.Status.Reason = "Evicted" }),
			},
			Deployments: []*appsv1.Deployment{{
				Spec:   appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"koldun.gorizond.io/dllama": "tiny"}}},
				Status: appsv1.DeploymentStatus{ReadyReplicas: 1},
			}},
		}},

		"Quota": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`pods "tiny-root-0" is forbidden: exceeded quota: small, requested: limits.memory=1Gi, used: limits.memory=512Mi, limited: limits.memory=1Gi`, time.Second),
			}},
			reason: diagnose.QuotaExceeded,
			says:   `StatefulSet "tiny-root" cannot create pods: pods "tiny-root-0" is forbidden: exceeded quota: small, requested: limits.memory=1Gi, limited: limits.memory=1Gi; raise the quota, or lower the requests of the claim`,
		},
		"QuotaNeedsLimits": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`pods "tiny-root-0" is forbidden: failed quota: small: must specify limits.cpu for: llm`, time.Second),
			}},
			reason: diagnose.QuotaExceeded,
			says:   `StatefulSet "tiny-root" cannot create pods: pods "tiny-root-0" is forbidden: failed quota: small: must specify limits.cpu for: llm; set the resources in the claim, or a LimitRange with defaults in the namespace`,
		},
		"LimitRange": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`pods "tiny-root-0" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`, time.Second),
			}},
			reason: diagnose.QuotaExceeded,
			says:   `StatefulSet "tiny-root" cannot create pods: pods "tiny-root-0" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi; change the LimitRange, or the resources of the claim`,
		},
		"PodSecurity": {
			scene: diagnose.Scene{Deployments: []*appsv1.Deployment{{
				ObjectMeta: metav1.ObjectMeta{Name: "i-gateway"},
				Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
					Message: `pods "i-gateway-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`,
				}}},
			}}},
			reason: diagnose.PodRefused,
			says:   `Deployment "i-gateway" cannot create pods: pods "i-gateway-x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true; label the namespace with a level of pod-security.kubernetes.io/enforce that allows it, or leave out what the level forbids`,
		},
		"ServiceAccount": {
			scene: diagnose.Scene{Jobs: []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "fetch", UID: "job"}}}, Events: []*corev1.Event{
				event("job", "FailedCreate", `Error creating: pods "fetch-" is forbidden: error looking up service account ns/x: serviceaccount "x" not found`, time.Second),
			}},
			reason: diagnose.PodRefused,
			says:   `Job "fetch" cannot create pods: pods "fetch-" is forbidden: error looking up service account ns/x: serviceaccount "x" not found; create the service account, or correct serviceAccountName of the claim`,
		},
		"PriorityClass": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`pods "tiny-root-0" is forbidden: no PriorityClass with name high was found`, time.Second),
			}},
			reason: diagnose.PodRefused,
			says:   `StatefulSet "tiny-root" cannot create pods: pods "tiny-root-0" is forbidden: no PriorityClass with name high was found; create the PriorityClass, or correct priorityClassName of the claim`,
		},
		"Webhook": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`admission webhook "policy" denied the request: no`, time.Second),
			}},
			reason: diagnose.PodRefused,
			says:   `StatefulSet "tiny-root" cannot create pods: admission webhook "policy" denied the request: no; change the policy of the webhook, or what it refuses`,
		},
		"WebhookTimesOut": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`Internal error occurred: failed calling webhook "policy": Post "https://policy.ns.svc:443/?timeout=10s": context deadline exceeded`, time.Second),
			}},
			reason: diagnose.PodCreationFailed,
			says:   `StatefulSet "tiny-root" cannot create pods: Internal error occurred: failed calling webhook "policy": Post "https://policy.ns.svc:443/?timeout=10s": context deadline exceeded; Kubernetes tries again; check the API server, and the webhook if the message names one`,
		},
		"StoreTimesOut": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`pods "tiny-root-0" is forbidden: error looking up service account ns/x: etcdserver: request timed out`, time.Second),
			}},
			reason: diagnose.PodCreationFailed,
			says:   `StatefulSet "tiny-root" cannot create pods: pods "tiny-root-0" is forbidden: error looking up service account ns/x: etcdserver: request timed out; Kubernetes tries again; check the API server, and the webhook if the message names one`,
		},
		"GeneratedNames": {
			scene: diagnose.Scene{Deployments: []*appsv1.Deployment{{
				ObjectMeta: metav1.ObjectMeta{Name: "gw"},
				Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: `pods "gw-7c9f5-x2k4p" is forbidden: no PriorityClass with name high was found`,
				}}},
			}}},
			reason: diagnose.PodRefused,
			says:   `Deployment "gw" cannot create pods: pods "gw-7c9f5-…" is forbidden: no PriorityClass with name high was found; create the PriorityClass, or correct priorityClassName of the claim`,
		},
		"JobRefusedBeforeItsPod": {scene: diagnose.Scene{
			Jobs:   []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "fetch", UID: "j"}, Status: batchv1.JobStatus{Failed: 1}}},
			Pods:   []*corev1.Pod{pod(job(end(75, "Error", "cannot connect")), of("j", "first", time.Minute, corev1.PodFailed))},
			Events: []*corev1.Event{event("j", "FailedCreate", "Error creating: serviceaccount \"x\" not found", time.Minute)},
		}},
		"SetRefusedBeforeItsPod": {scene: diagnose.Scene{
			StatefulSets: []*appsv1.StatefulSet{set(1, 2)}, Pods: []*corev1.Pod{pod(of("set", "tiny-root-0", time.Minute, corev1.PodPending))},
			Events: []*corev1.Event{event("set", "FailedCreate", created+"no", time.Second)},
		}},
		"JobRefusedAfterItsPod": {
			scene: diagnose.Scene{
				Jobs:   []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Name: "fetch", UID: "j"}, Status: batchv1.JobStatus{Failed: 1}}},
				Pods:   []*corev1.Pod{pod(job(end(75, "Error", "cannot connect")), of("j", "first", 0, corev1.PodFailed))},
				Events: []*corev1.Event{event("j", "FailedCreate", "Error creating: serviceaccount \"x\" not found", time.Minute)},
			},
			reason: diagnose.PodRefused,
			says:   `Job "fetch" cannot create pods: serviceaccount "x" not found; create the service account, or correct serviceAccountName of the claim`,
		},
		"InvalidPod": {
			scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(0, 1)}, Events: []*corev1.Event{
				event("set", "FailedCreate", created+`Pod "tiny-root-0" is invalid: spec.x: Invalid value`, time.Second),
			}},
			reason: diagnose.PodRefused,
			says:   `StatefulSet "tiny-root" cannot create pods: Pod "tiny-root-0" is invalid: spec.x: Invalid value; do what the message asks`,
		},
		"CreatedLater": {scene: diagnose.Scene{StatefulSets: []*appsv1.StatefulSet{set(1, 1)}, Events: []*corev1.Event{event("set", "FailedCreate", created+"no", time.Second)}}},
		"JobFailed": {scene: diagnose.Scene{
			Jobs: []*batchv1.Job{{ObjectMeta: metav1.ObjectMeta{UID: "job"}, Status: batchv1.JobStatus{
				Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}},
			}}}, Events: []*corev1.Event{event("job", "FailedCreate", "Error creating: no", time.Second)},
		}},

		"MostCausal": {
			scene: diagnose.Scene{Pods: []*corev1.Pod{
				pod(looping(end(1, "Error", "no worker listens"))),
				pod(unschedulable("0/1 nodes are available: 1 Insufficient memory."), labelled("dllama", "worker"), func(p *corev1.Pod) { p.Name, p.UID = "tiny-workers-0", "worker" }),
			}},
			reason: diagnose.Unschedulable, pod: "tiny-workers-0",
			says: `No node can run pod "tiny-workers-0": Insufficient memory; lower the requests of memory in spec.workerResources, or add a node with more`,
		},
		"Newest": {
			scene:  diagnose.Scene{Pods: []*corev1.Pod{pod(died(2, oom)), pod(died(2, oom), of("s", "newer", time.Minute, corev1.PodRunning))}},
			reason: diagnose.OutOfMemory, pod: "newer",
			says: `Pod "newer": container "engine" needs more than its memory limit of 64Mi; raise spec.rootResources.limits.memory`,
		},
	}
}

func TestDiagnose(t *testing.T) {
	cases := diagnoses()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := diagnose.Diagnose(c.scene)
			if want := (diagnose.Diagnosis{Reason: c.reason, Message: c.says, Pod: c.pod}); got != want {
				t.Errorf("diagnosis:\n%+v\nwant\n%+v", got, want)
			}
		})
	}
	seen := map[string]bool{}
	for _, c := range cases {
		seen[c.reason] = true
	}
	for _, c := range diagnose.Causes() {
		switch c.Reason { // of the exit statuses, which are one table
		case diagnose.InputRefused, diagnose.SourceNotFound, diagnose.DataCorrupt, diagnose.StorageConflict:
			continue
		}
		if !seen[c.Reason] {
			t.Errorf("no case has the reason %s", c.Reason)
		}
	}
}

// Each exit status of Koldun's programs has its reason.
func TestExitStatuses(t *testing.T) {
	for code, want := range map[int32]string{
		10: diagnose.InputRefused, 11: diagnose.CredentialsRefused, 12: diagnose.SourceNotFound, 13: diagnose.StorageFull,
		14: diagnose.DataCorrupt, 15: diagnose.StorageConflict, 75: "", 1: "",
	} {
		got := diagnose.Diagnose(one(pod(job(corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: "words"}))))
		if got.Reason != want || want != "" && !strings.Contains(got.Message, " ended: words") {
			t.Errorf("exit status %d: %+v, want reason %q", code, got, want)
		}
	}
}

// Long messages of nodes are cut: a status holds them.
func TestMessagesAreBounded(t *testing.T) {
	got := diagnose.Diagnose(one(pod(waiting("CreateContainerError", strings.Repeat("é", 10_000)))))
	if len(got.Message) > 700 || !strings.Contains(got.Message, "…;") {
		t.Errorf("the message has %d bytes: %s", len(got.Message), got.Message)
	}
}
