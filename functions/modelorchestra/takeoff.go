package modelorchestra

import (
	"cmp"
	"errors"
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

// account composes the ServiceAccount of all pods.
func (p *orchestraPlan) account() (compose.Next, error) {
	a := p.serviceAccount()
	if a.Create != nil && !*a.Create {
		return compose.Continue, nil
	}
	return compose.Continue, p.Desire(resAccount, &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   metav1.ObjectMeta{Namespace: p.o.Namespace, Name: p.accountName(), Annotations: a.Annotations},
		AutomountServiceAccountToken: ptr(a.Automount != nil && *a.Automount),
	}, compose.Ready)
}

func (p *orchestraPlan) serviceAccount() v1.OrchestraServiceAccount {
	if a := p.o.Spec.ServiceAccount; a != nil {
		return *a
	}
	return v1.OrchestraServiceAccount{}
}

func (p *orchestraPlan) accountName() string {
	a := p.serviceAccount()
	if a.Create != nil && !*a.Create {
		return cmp.Or(a.Name, "default")
	}
	return cmp.Or(a.Name, p.name())
}

// part returns what the gateway and the applications have in common.
func (p *orchestraPlan) part(pod v1.OrchestraPod, name, component, variant string) part {
	a := p.serviceAccount()
	return part{
		OrchestraPod: pod, namespace: p.o.Namespace, name: p.name(name), orchestra: p.o.Name, component: component,
		label: cmp.Or(p.o.Spec.NameOverride, "model-orchestra"), variant: variant, internal: internalPort(p.o.Spec.Gateway.Config),
		env:         []corev1.EnvVar{{Name: "TAKEOFF_ADD_READER_ID_SUFFIX", Value: "true"}},
		pullSecrets: p.o.Spec.ImagePullSecrets, account: p.accountName(), automount: a.Automount != nil && *a.Automount,
	}
}

// plan prepares the gateway and the readers, and refuses what cannot work.
func (p *orchestraPlan) plan() (compose.Next, error) {
	g := p.o.Spec.Gateway
	p.front = p.part(g.OrchestraPod, gateway, gateway, "cpu")
	var err error
	if p.front.config, err = serverConfig(g.Config); err == nil {
		err = p.front.check()
	}
	if err != nil {
		return p.refuse("spec.gateway.%v", err)
	}
	for _, a := range p.applications {
		w := p.part(a.OrchestraPod, a.name, names.Join(names.MaxLabel, "application", a.name), "gpu")
		prepare(&w, a)
		if w.config, err = readerConfig(a, p.front.name, w.internal); err == nil {
			err = w.check()
		}
		if err == nil {
			if problem := checkScaling(a.Scaling); problem != "" {
				err = errors.New(problem)
			}
		}
		if err != nil {
			return p.refuse("spec.applications.%s.%v", a.name, err)
		}
		p.readers = append(p.readers, w)
	}
	return compose.Continue, nil
}

// takeoffGateway composes the gateway and the way to it.
func (p *orchestraPlan) takeoffGateway() (compose.Next, error) {
	g, w := p.o.Spec.Gateway, p.front
	if w.Service == nil {
		w.Service = &v1.OrchestraService{}
	}
	if w.Resources == nil {
		w.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
		}}
	}
	count := replicas(g.ReplicaCount)
	p.gatewayReady = p.ReadyPods(resDeployment+gateway) > 0
	if err := p.desirePart(gateway, w, count, p.gatewayReady || *count == 0); err != nil {
		return compose.Stop, err
	}
	way := access{w}
	routed := false // not while the cluster lacks the kind of the routes
	for kind := range way.routes() {
		routed = routed || p.WillBeReady(kind+"-"+gateway)
	}
	p.status.GatewayServiceName, p.status.URL = w.name, way.url(routed)
	if !g.ExportPrometheusMetrics {
		return compose.Continue, nil
	}
	return compose.Continue, p.Desire(resMonitor, way.monitor(), compose.Ready)
}

func replicas(given *int32) *int32 {
	if given == nil {
		return ptr(int32(1))
	}
	return given
}

// desirePart composes the pods of a part, their configuration, and the way to them.
func (p *orchestraPlan) desirePart(name string, w part, replicas *int32, ready bool) error {
	way := access{w}
	objects := map[string]any{resConfig + name: configMap(w.namespace, w.name, w.labels(), w.config)}
	if w.Service != nil {
		objects[resService+name] = way.service()
	}
	for kind, route := range way.routes() {
		objects[kind+"-"+name] = route
	}
	for res, obj := range objects {
		if err := p.Desire(res, obj, compose.Ready); err != nil {
			return err
		}
	}
	return p.Desire(resDeployment+name, w.deployment(replicas), compose.Readiness(ready))
}

// watch looks after the pods of the gateway and of all applications.
func (p *orchestraPlan) watch() (compose.Next, error) {
	problem, err := managed.Watch(p.Call, p.o.Namespace, p.name("pods"), workload.Owner("modelorchestra", p.o.Name))
	if err != nil {
		return compose.Stop, err
	}
	if !p.gatewayReady || p.status.Available < p.status.Total {
		p.FailIf(problem.Reason, problem.Message)
	}
	return compose.Continue, nil
}

// takeoffApplications composes the readers.
func (p *orchestraPlan) takeoffApplications() (compose.Next, error) {
	for i, a := range p.applications {
		if err := p.takeoffApplication(a, p.readers[i]); err != nil {
			return compose.Stop, err
		}
	}
	return compose.Continue, nil
}

func (p *orchestraPlan) takeoffApplication(a application, w part) error {
	count := replicas(a.ReplicaCount)
	idle := *count == 0
	if scaled(a.Scaling) {
		count, idle = p.unscaled(a.name), p.idle(a)
		if err := p.Desire(resScaler+a.name, scaler{w, a, p.front.name}.object(), compose.Ready); err != nil {
			return err
		}
	}
	if v := a.ModelsVolume; v != nil && v.Claim != nil {
		if err := p.Desire(resModels+a.name, modelsClaim(w, *v.Claim), compose.Ready); err != nil {
			return err
		}
	}
	ready := idle || p.ReadyPods(resDeployment+a.name) > 0
	p.add(a, cmp.Or(a.ReaderConfig.ConsumerGroup, defaultGroup), ready)
	return p.desirePart(a.name, w, count, ready)
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
