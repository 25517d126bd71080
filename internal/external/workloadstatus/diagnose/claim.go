package diagnose

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// labels of the pods that the functions compose.
const (
	labelPrefix    = "koldun.gorizond.io/"
	labelComponent = labelPrefix + "component"
)

// fields are the fields of the claim that a pod was made from, so that a message can
// name the one to change. Empty: there is none.
type fields struct {
	scheduling string // has nodeSelector, tolerations, affinity and imagePullSecrets
	image      string
	resources  string // has requests and limits
	memory     string // the limit
	args       string // of the program

	pullSecrets string // unless they are among the fields of scheduling
}

// fieldsOf returns the fields of a container of a pod, by the pod's labels. Pods of
// others have none.
func fieldsOf(labels map[string]string, container string) fields {
	component := labels[labelComponent]
	has := func(owner string) bool { return labels[labelPrefix+owner] != "" }
	switch {
	case (has("dllama") || has("root") || has("worker")) && own(container):
		return fields{scheduling: "spec.scheduling"}
	case has("dllama"):
		out := sized("spec.scheduling", "spec."+component+"Image", "spec."+component+"Resources")
		out.args = "spec.engine.server.args or spec.engine.extraArgs"
		return out
	case has("ingress"):
		image := "spec.backend.image"
		if component == "dispatcher" {
			image = "spec.backend.image or spec.backend.dispatcherImage"
		}
		out := sized("spec.backend.backendScheduling", image, "spec.backend.resources")
		if component == "gateway" {
			out.args = "spec.backend.extraArgs"
		}
		return out
	case has("session"):
		return fields{scheduling: "spec.scheduling", image: "spec.dispatcherImage"}
	case has("model"):
		memory := map[string]string{"fetch": "spec.download.memory", "convert": "spec.conversion.memory"}[component]
		return fields{scheduling: "spec.scheduling", resources: memory, memory: memory}
	case has("modeldownload"):
		return fields{scheduling: "spec.scheduling", resources: "spec.settings", memory: "spec.settings.memory"}
	case has("modelorchestra"):
		return orchestraFields(labels["app.kubernetes.io/component"])
	case has("ai-deployment") && (container == "serving" || container == "prepare"):
		return sized("spec.deployment", "spec.engine.options.imageRepository or imageTag", "spec.deployment.resources")
	case has("ai-deployment"):
		return fields{scheduling: "spec.deployment", image: "the image in spec.deployment.template"}
	case has("root") || has("worker"):
		out := sized("spec.scheduling", "spec.image", "spec.resources")
		out.args = "spec.args"
		return out
	}
	return fields{}
}

// orchestraFields are those of the gateway or of an application. The label of an
// application with a long name is cut, so that it names none.
func orchestraFields(component string) fields {
	path := "spec.gateway"
	if application, ok := strings.CutPrefix(component, "application-"); ok {
		path = "spec.applications"
		if len(component) < validation.LabelValueMaxLength {
			path += "." + application
		}
	}
	out := sized(path, path+".image", path+".resources")
	out.pullSecrets = "spec.imagePullSecrets"
	return out
}

// own reports whether a container beside an engine runs Koldun's own image, which no
// field of a claim names.
func own(container string) bool {
	return container == "llm" || container == "fetch" || container == "install"
}

func sized(scheduling, image, resources string) fields {
	return fields{scheduling: scheduling, image: image, resources: resources, memory: resources + ".limits.memory"}
}

// placing names a field of the scheduling of the claim, or of a pod that has none.
func (f fields) placing(field string) string {
	if field == "imagePullSecrets" && f.pullSecrets != "" {
		return f.pullSecrets
	}
	if f.scheduling == "" {
		return "the pod's " + field
	}
	return f.scheduling + "." + field
}

func (f fields) named() string {
	if f.image == "" {
		return "the image"
	}
	return f.image
}

// ours reports whether a container runs Koldun's program: its exit statuses mean what
// internal/fault says.
func ours(command []string) bool {
	return len(command) == 0 || strings.HasSuffix(command[0], "/koldun")
}
