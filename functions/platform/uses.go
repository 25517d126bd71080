package platform

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// Args is the use of arguments.
func Args(field string, args []string) Use {
	return Use{Field: field, What: "argument", Value: strings.Join(args, " "), Grant: "extraArgs"}
}

// Template is the use of a template that is merged over pods.
func Template(field string, given bool) Use {
	u := Use{Field: field, What: "pod", Grant: "podTemplates"}
	if given {
		u.Value = "template"
	}
	return u
}

// Runtime lists the uses of a runtime, whose fields are below a path.
func Runtime(path string, r v1.Runtime) []Use {
	return append(server(path, r),
		Image(path+".rootImage", r.RootImage),
		Image(path+".workerImage", r.WorkerImage),
		Args(path+".engine.extraArgs", r.Engine.ExtraArgs),
	)
}

// Gateway lists the uses of gateway and dispatcher.
func Gateway(path string, g v1.GatewaySettings) []Use {
	exceed := Use{Field: path + ".limits.tokensMayExceed", What: "value", Grant: "tokensMayExceed"}
	if g.Limits != nil && g.Limits.TokensMayExceed {
		exceed.Value = "true"
	}
	return []Use{
		exceed,
		GatewayImage(path+".image", g.Image),
		GatewayImage(path+".dispatcherImage", g.DispatcherImage),
		Args(path+".extraArgs", g.ExtraArgs),
	}
}

// Static lists the uses of a static volume.
func Static(path string, pv *corev1.PersistentVolume) []Use {
	csi := pv.Spec.CSI
	out := []Use{
		{Field: path + ".csiDriver", What: "driver", Value: csi.Driver, Grant: "csiDrivers"},
		{
			Field: path + ".csiSecretName", What: "Secret", Grant: "csiSecrets",
			Value: csi.NodePublishSecretRef.Namespace + "/" + csi.NodePublishSecretRef.Name,
		},
	}
	for _, name := range slices.Sorted(maps.Keys(csi.VolumeAttributes)) {
		out = append(out, Use{Field: path + ".volumeAttributes", What: "attribute", Value: name, Grant: "csiAttributes"})
	}
	return out
}
