package modelorchestra

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// takeoff is the backend of the vendor's image.
type takeoff struct{ *orchestraPlan }

func (t takeoff) compose(applications []application) error {
	front, readers, problem := t.parts(applications)
	if problem != "" {
		return t.refuse(problem)
	}
	if err := t.account(); err != nil {
		return err
	}
	gatewayReady, err := t.composeGateway(front)
	if err != nil {
		return err
	}
	for i, a := range applications {
		if err := t.composeReader(a, readers[i], front.name); err != nil {
			return err
		}
	}
	return t.watch(gatewayReady)
}

// account composes the ServiceAccount of all pods.
func (t takeoff) account() error {
	a := t.serviceAccount()
	if a.Create != nil && !*a.Create {
		return nil
	}
	return t.Desire(resAccount, &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   metav1.ObjectMeta{Namespace: t.o.Namespace, Name: t.accountName(), Annotations: a.Annotations},
		AutomountServiceAccountToken: ptr(a.Automount != nil && *a.Automount),
	}, compose.Ready)
}

func (t takeoff) serviceAccount() v1.OrchestraServiceAccount {
	if a := t.o.Spec.ServiceAccount; a != nil {
		return *a
	}
	return v1.OrchestraServiceAccount{}
}

func (t takeoff) accountName() string {
	a := t.serviceAccount()
	if a.Create != nil && !*a.Create {
		return cmp.Or(a.Name, "default")
	}
	return cmp.Or(a.Name, t.name())
}

// part returns what the gateway and the applications have in common.
func (t takeoff) part(pod v1.OrchestraPod, name, component, variant string) part {
	a := t.serviceAccount()
	return part{
		OrchestraPod: pod, namespace: t.o.Namespace, name: t.name(name), orchestra: t.o.Name, component: component,
		label: cmp.Or(t.o.Spec.NameOverride, "model-orchestra"), variant: variant, internal: internalPort(t.o.Spec.Gateway.Config),
		env:         []corev1.EnvVar{{Name: "TAKEOFF_ADD_READER_ID_SUFFIX", Value: "true"}},
		pullSecrets: t.o.Spec.ImagePullSecrets, account: t.accountName(), automount: a.Automount != nil && *a.Automount,
	}
}

// parts prepares the gateway and the readers of the applications, or says what cannot work.
func (t takeoff) parts(applications []application) (front part, readers []part, problem string) {
	g := t.o.Spec.Gateway
	front = t.part(g.OrchestraPod, gateway, gateway, "cpu")
	var err error
	if front.config, err = serverConfig(g.Config); err == nil {
		err = front.check()
	}
	if err != nil {
		return front, nil, fmt.Sprintf("spec.gateway.%v", err)
	}
	for _, a := range applications {
		w := t.part(a.OrchestraPod, a.name, names.Join(names.MaxLabel, "application", a.name), "gpu")
		prepare(&w, a)
		if w.config, err = readerConfig(a, front.name, w.internal); err == nil {
			err = w.check()
		}
		if err == nil {
			if problem := checkScaling(a.Scaling); problem != "" {
				err = errors.New(problem)
			}
		}
		if err != nil {
			return front, nil, fmt.Sprintf("spec.applications.%s.%v", a.name, err)
		}
		readers = append(readers, w)
	}
	return front, readers, ""
}

// composeGateway composes the gateway and the way to it.
func (t takeoff) composeGateway(w part) (ready bool, err error) {
	g := t.o.Spec.Gateway
	if w.Service == nil {
		w.Service = &v1.OrchestraService{}
	}
	if w.Resources == nil {
		w.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
		}}
	}
	count := replicas(g.ReplicaCount)
	ready = t.ReadyPods(resDeployment+gateway) > 0
	if err := t.desirePart(gateway, w, count, ready || *count == 0); err != nil {
		return ready, err
	}
	way := access{w}
	routed := false // not while the cluster lacks the kind of the routes
	for kind := range way.routes() {
		routed = routed || t.WillBeReady(kind+"-"+gateway)
	}
	t.status.GatewayServiceName, t.status.URL = w.name, way.url(routed)
	if !g.ExportPrometheusMetrics {
		return ready, nil
	}
	return ready, t.Desire(resMonitor, way.monitor(), compose.Ready)
}

func replicas(given *int32) *int32 {
	if given == nil {
		return ptr(int32(1))
	}
	return given
}

// desirePart composes the pods of a part, their configuration, and the way to them.
func (t takeoff) desirePart(name string, w part, replicas *int32, ready bool) error {
	way := access{w}
	objects := map[string]any{resConfig + name: configMap(w.namespace, w.name, w.labels(), w.config)}
	if w.Service != nil {
		objects[resService+name] = way.service()
	}
	for kind, route := range way.routes() {
		objects[kind+"-"+name] = route
	}
	for res, obj := range objects {
		if err := t.Desire(res, obj, compose.Ready); err != nil {
			return err
		}
	}
	return t.Desire(resDeployment+name, w.deployment(replicas), compose.Readiness(ready))
}

// watch looks after the pods of the gateway and of all applications, and reports.
func (t takeoff) watch(gatewayReady bool) error {
	problem, err := managed.Watch(t.Call, t.o.Namespace, t.name("pods"), workload.Owner("modelorchestra", t.o.Name))
	if err != nil {
		return err
	}
	if problem.Reason != "" && (!gatewayReady || t.status.Available < t.status.Total) {
		t.Fail(problem.Reason, "%s", problem.Message)
	} else {
		t.report(gatewayReady)
	}
	return nil
}

// composeReader composes the reader of an application, and the scaler, which asks the
// gateway.
func (t takeoff) composeReader(a application, w part, front string) error {
	count := replicas(a.ReplicaCount)
	idle := *count == 0
	if scaled(a.Scaling) {
		count, idle = t.unscaled(a.name), t.idle(a)
		if err := t.Desire(resScaler+a.name, scaler{w, a, front}.object(), compose.Ready); err != nil {
			return err
		}
	}
	if v := a.ModelsVolume; v != nil && v.Claim != nil {
		if err := t.Desire(resModels+a.name, modelsClaim(w, *v.Claim), compose.Ready); err != nil {
			return err
		}
	}
	ready := idle || t.ReadyPods(resDeployment+a.name) > 0
	t.add(a, cmp.Or(a.ReaderConfig.ConsumerGroup, defaultGroup), ready)
	return t.desirePart(a.name, w, count, ready)
}

// prepare adds what readers need beside the configuration: shared memory, a volume for
// the models, GPUs, and the token of the hub, in the environment only.
func prepare(w *part, a application) {
	models := modelsVolume(*w, a.ModelsVolume)
	w.volumes = []corev1.Volume{
		{Name: volumeMemory, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		models,
	}
	w.mounts = []corev1.VolumeMount{{Name: volumeMemory, MountPath: "/dev/shm"}, {Name: models.Name, MountPath: "/code/models"}}
	if v := a.ModelsVolume; v != nil && v.Claim != nil {
		w.exclusive = !slices.Contains(v.Claim.AccessModes, corev1.ReadWriteMany)
	}
	w.env = append(w.env, corev1.EnvVar{Name: variableHeadless, Value: "true"}, corev1.EnvVar{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}})
	if ref := a.ReaderConfig.AccessTokenSecretRef; ref != nil {
		from := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key}}
		w.env = append(w.env, corev1.EnvVar{Name: "TAKEOFF_ACCESS_TOKEN", ValueFrom: from}, corev1.EnvVar{Name: "HF_TOKEN", ValueFrom: from})
	}
	if a.ReaderConfig.Device == deviceCUDA {
		w.Resources = withGPUs(w.Resources, gpus(a))
	}
}

// gpus is the number of GPUs that share the model.
func gpus(a application) int32 {
	if n := a.ReaderConfig.TensorParallel; n != nil {
		return *n
	}
	return 1
}

// modelsVolume is where readers keep models: on disk, so that a restarted container
// finds them again, and memory is left to the model.
func modelsVolume(w part, v *v1.OrchestraModelsVolume) corev1.Volume {
	out := corev1.Volume{Name: "models", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	if v == nil {
		return out
	}
	out.Name = cmp.Or(v.Name, out.Name)
	out.VolumeSource = source(v.OrchestraVolumeSource)
	if v.Claim != nil {
		out.VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(w)}}
	}
	return out
}

func claimName(w part) string { return names.Join(names.MaxLabel, w.name, "models") }

func modelsClaim(w part, c v1.OrchestraModelsClaim) *corev1.PersistentVolumeClaim {
	modes := c.AccessModes
	if len(modes) == 0 {
		modes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: claimName(w), Labels: w.labels()},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: c.StorageClassName,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: c.Size}},
		},
	}
}
