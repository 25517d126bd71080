package model

import (
	"cmp"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// Defaults of a static volume, as in the schema.
const (
	defaultStorageClass    = "csi-s3"
	defaultDriver          = "ru.yandex.s3.csi"
	defaultSecret          = "csi-s3-secret"
	defaultSecretNamespace = "kube-system"
)

// volume composes the volume with the converted files, when one is wanted. A
// composite without a namespace gets a static volume of the CSI driver; one
// with a namespace must not compose such a thing, and gets a claim that a Job
// fills.
func (p *modelPlan) volume() (compose.Next, error) {
	pv := p.m.Spec.PV
	if pv == nil {
		return compose.Continue, nil
	}
	claim := p.claim(pv)
	if p.ClusterScoped() {
		volume := p.static(pv, claim.Name)
		claim.Spec.VolumeName = volume.Name
		claim.Spec.StorageClassName = &volume.Spec.StorageClassName
		p.status.OutputPVCName = claim.Name
		if err := p.Desire(resVolume+"-"+names.Hash(8, volume.Name), volume, compose.Ready); err != nil {
			return compose.Stop, err
		}
		return compose.Continue, p.Desire(resClaim+"-"+names.Hash(8, claim.Name), claim, compose.Ready)
	}
	key := resClaim + "-" + names.Hash(8, claim.Name)
	if problem := p.tooSmall(p.served().SizeBytes); problem != "" && !p.Exists(key) {
		p.Fail(reason.VolumeTooSmall, "%s", problem)
		return compose.Stop, nil
	}
	if err := p.Desire(key, claim, compose.Ready); err != nil {
		return compose.Stop, err
	}
	return p.fill(claim.Name)
}

// tooSmall says why the volume cannot hold files of that size; empty if it can, or if
// none is filled.
func (p *modelPlan) tooSmall(size int64) string {
	pv := p.m.Spec.PV
	if pv == nil || p.ClusterScoped() {
		return ""
	}
	field, capacity := "spec.pv.capacity", quantity(pv.Capacity)
	if pv.PVCCapacity != nil {
		field, capacity = "spec.pv.pvcCapacity", *pv.PVCCapacity
	}
	if capacity.Value() >= size {
		return ""
	}
	return fmt.Sprintf("%s: the files take %s, and the volume has %s: set it to more", field, bytesize.Format(size), capacity.String())
}

// fill composes the Job that copies the files. The Job stays: the claim alone
// does not say whether the copy is complete.
func (p *modelPlan) fill(claim string) (compose.Next, error) {
	const folder = "files"
	fill, err := p.job(resFill, workload.Container{
		Args:      []string{"fetch", "--from=" + p.at.served(), "--to=" + names.DirRef(folder), job.ServeProgress(job.PortProgress)},
		Secrets:   []string{p.storeSecret()},
		StoreKeys: p.storeKeys,
		Memory:    memory.Fetch(0, 0),
		Request:   memory.Fetch(0, 0),
	}, map[string]workload.Claim{folder: {Name: claim}})
	if err != nil {
		return compose.Stop, err
	}
	var seen batchv1.Job
	known := p.Observed(fill.Key, &seen)
	done := known && seen.Status.Succeeded > 0
	if err := p.Desire(fill.Key, fill.Job, compose.Readiness(done)); err != nil {
		return compose.Stop, err
	}
	if done {
		p.status.OutputPVCName = claim
		return compose.Continue, nil
	}
	pods, err := p.watchPods()
	if err != nil {
		return compose.Stop, err
	}
	if message, gaveUp := job.Failure(seen); known && gaveUp {
		p.Fail(reason.VolumeFailed, "Job %q gave up: %s", fill.Name, cmp.Or(pods.Message, message))
		return compose.Stop, nil
	}
	p.FailIf(pods.Reason, pods.Message)
	at := pods.OfJob(fill.Name)
	p.status.Progress, p.status.ETA = at.String(), at.ETA()
	p.Fail(reason.FillingVolume, "Job %q copies the files into PersistentVolumeClaim %q", fill.Name, claim)
	return compose.Stop, nil
}

// claim returns the PersistentVolumeClaim. Its name holds a hash of its content
// and its specification, because neither can change.
func (p *modelPlan) claim(pv *v1.Volume) *corev1.PersistentVolumeClaim {
	size, modes := quantity(pv.Capacity), modesOf(pv.PVCAccessModes)
	if pv.PVCCapacity != nil {
		size = *pv.PVCCapacity
	}
	name := names.Object(p.m.Name, "files", names.Hash(8, p.at.served(), pv.PVCStorageClassName, size.String(), modeNames(modes)))
	out := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: name, Labels: workload.Labels("files", "model", p.m.Name)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes,
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if pv.PVCStorageClassName != "" {
		out.Spec.StorageClassName = &pv.PVCStorageClassName
	}
	return out
}

// static is a volume over the folder in the object store. Its name holds a
// hash of the namespace, because volumes have none.
func (p *modelPlan) static(pv *v1.Volume, claim string) *corev1.PersistentVolume {
	attributes := map[string]string{}
	for k, v := range pv.VolumeAttributes {
		attributes[k] = v
	}
	if pv.CSIMounter != "" {
		attributes["mounter"] = pv.CSIMounter
	}
	if pv.CSIOptions != "" {
		attributes["options"] = pv.CSIOptions
	}
	secret := &corev1.SecretReference{Name: cmp.Or(pv.CSISecretName, defaultSecret), Namespace: cmp.Or(pv.CSISecretNamespace, defaultSecretNamespace)}
	reclaim := pv.ReclaimPolicy
	if reclaim == "" {
		reclaim = corev1.PersistentVolumeReclaimRetain
	}
	return &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: names.Object(claim, names.Hash(8, p.m.Namespace, claim)), Labels: workload.Labels("files", "model", p.m.Name)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   modesOf(pv.AccessModes),
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: quantity(pv.Capacity)},
			PersistentVolumeReclaimPolicy: reclaim,
			StorageClassName:              cmp.Or(pv.StorageClassName, defaultStorageClass),
			ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: p.m.Namespace, Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver:                     cmp.Or(pv.CSIDriver, defaultDriver),
				VolumeHandle:               strings.TrimPrefix(p.at.served(), "s3://"),
				VolumeAttributes:           attributes,
				ControllerPublishSecretRef: secret,
				NodePublishSecretRef:       secret,
				NodeStageSecretRef:         secret,
			}},
		},
	}
}

func quantity(q *resource.Quantity) resource.Quantity {
	if q == nil {
		return resource.MustParse("10Gi")
	}
	return *q
}

func modesOf(m []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
	if len(m) == 0 {
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	}
	return m
}

func modeNames(m []corev1.PersistentVolumeAccessMode) string {
	out := ""
	for _, mode := range m {
		out += string(mode) + ","
	}
	return out
}
