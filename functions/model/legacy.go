package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// Legacy says which fields without effect are given, at which path. A composite with a
// namespace of its own has no static volume: a Job fills a claim of a storage class.
func Legacy(path, namespace string, s v1.ModelSpec, namespaced bool) map[string]bool {
	out := workload.Withheld(path+".env", s.Env)
	out[path+".pipProxy"] = s.PipProxy != ""
	if o := s.ObjectStorage; o != nil {
		store := storeOf(s)
		elsewhere := o.ProviderConfigRef != nil
		out[path+".objectStorage.region"] = o.Region != "" && (elsewhere || store.Endpoint == "" && store.SecretRef == nil)
		out[path+".objectStorage.secretRef"] = o.SecretRef != nil && elsewhere
	}
	if pv := s.PV; pv != nil && namespaced {
		staticFields(path+".pv", *pv, out)
	}
	if d := s.Download; d != nil {
		if t := d.HuggingFaceTokenSecretRef; t != nil {
			out[path+".download.huggingFaceTokenSecretRef.namespace"] = t.Namespace != "" && t.Namespace != namespace
		}
		out[path+".download.image"] = d.Image != ""
		out[path+".download.command"] = len(d.Command) > 0
		out[path+".download.args"] = len(d.Args) > 0
	}
	if c := s.Conversion; c != nil {
		out[path+".conversion.image"] = c.Image != ""
		out[path+".conversion.command"] = len(c.Command) > 0
		out[path+".conversion.args"] = len(c.Args) > 0
		out[path+".conversion.rcloneImage"] = c.RcloneImage != ""
		out[path+".conversion.toolsImage"] = c.ToolsImage != ""
		out[path+".conversion.converterVersion"] = c.ConverterVersion != ""
		out[path+".conversion.writerURL"] = c.WriterURL != ""
		out[path+".conversion.writerConfigMap"] = c.WriterConfigMap != ""
		out[path+".conversion.dependencies"] = len(c.Dependencies) > 0
	}
	return out
}

// staticFields adds the fields of a static volume that differ from the defaults of the
// schema, which every volume has.
func staticFields(path string, pv v1.Volume, out map[string]bool) {
	for field, given := range map[string]bool{
		"storageClassName":   pv.StorageClassName != "" && pv.StorageClassName != defaultStorageClass,
		"accessModes":        !slices.Equal(modesOf(pv.AccessModes), modesOf(nil)),
		"reclaimPolicy":      pv.ReclaimPolicy != "" && pv.ReclaimPolicy != corev1.PersistentVolumeReclaimRetain,
		"csiDriver":          pv.CSIDriver != "" && pv.CSIDriver != defaultDriver,
		"csiMounter":         pv.CSIMounter != "",
		"csiOptions":         pv.CSIOptions != "",
		"volumeAttributes":   len(pv.VolumeAttributes) > 0,
		"csiSecretName":      pv.CSISecretName != "" && pv.CSISecretName != defaultSecret,
		"csiSecretNamespace": pv.CSISecretNamespace != "" && pv.CSISecretNamespace != defaultSecretNamespace,
	} {
		out[path+"."+field] = given
	}
}
