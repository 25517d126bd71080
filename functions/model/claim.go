package model

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Defaults of a static volume, as in the schema.
const (
	defaultStorageClass    = "csi-s3"
	defaultDriver          = "ru.yandex.s3.csi"
	defaultSecret          = "csi-s3-secret"
	defaultSecretNamespace = "kube-system"
)

// claimOf returns the PersistentVolumeClaim for the files at a URL. Its name holds a hash of its content
// and its specification, because neither can change.
func claimOf(m v1.Model, url string) *corev1.PersistentVolumeClaim {
	pv := m.Spec.PV
	size, modes := quantity(pv.Capacity), modesOf(pv.PVCAccessModes)
	if pv.PVCCapacity != nil {
		size = *pv.PVCCapacity
	}
	name := names.Object(m.Name, "files", names.Hash(8, url, pv.PVCStorageClassName, size.String(), modeNames(modes)))
	out := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: name, Labels: workload.Labels("files", "model", m.Name)},
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
func static(m v1.Model, claim, url string) *corev1.PersistentVolume {
	pv := m.Spec.PV
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
		ObjectMeta: metav1.ObjectMeta{Name: names.Object(claim, names.Hash(8, m.Namespace, claim)), Labels: workload.Labels("files", "model", m.Name)},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   modesOf(pv.AccessModes),
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: quantity(pv.Capacity)},
			PersistentVolumeReclaimPolicy: reclaim,
			StorageClassName:              cmp.Or(pv.StorageClassName, defaultStorageClass),
			ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: m.Namespace, Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver:                     cmp.Or(pv.CSIDriver, defaultDriver),
				VolumeHandle:               strings.TrimPrefix(url, "s3://"),
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
