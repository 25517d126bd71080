package migrate

import (
	"fmt"
	"path"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

// The operator of kold, and the first Koldun, whose group is ours.
const (
	groupKold = "kold.gorizond.io"
	imageWhy  = "an image of the old operator has its old program, so the image of this version of Koldun is used"
)

func koldunKinds() []kind {
	groups := []string{groupKold, v1.Group}
	of := func(name string, convert func(*conversion)) kind {
		return kind{groups: groups, name: name, to: name, convert: convert}
	}
	session := of(v1.KindSession, convertSession)
	session.skip = func(c *conversion) string {
		if c.text("metadata.labels["+v1.Group+"/hash]") == "" {
			return ""
		}
		return "the old operator made it for a conversation; an Ingress makes its Sessions itself"
	}
	return []kind{
		of(v1.KindModel, convertModel), of(v1.KindDllama, convertDllama), of(v1.KindRoot, convertRoot),
		of(v1.KindWorker, func(c *conversion) { dropEngineImages(c, "spec.image") }),
		session, of(v1.KindIngress, convertIngress),
		{groups: groups, name: "Token", to: "Secret", build: tokenSecret},
	}
}

func convertModel(c *conversion) {
	c.move("spec.cacheSpec.endpoint", "spec.objectStorage.endpoint")
	c.move("spec.cacheSpec.bucket", "spec.objectStorage.bucketForSource")
	c.move("spec.cacheSpec.secretRef", "spec.objectStorage.secretRef")
	c.secretHere("spec.objectStorage.secretRef")
	c.secretHere("spec.download.huggingFaceTokenSecretRef")
	c.natsCredentials("spec.nats")
	if !c.options.Claims {
		for _, f := range []string{"storageClassName", "accessModes", "reclaimPolicy", "csiDriver", "csiMounter", "csiOptions", "volumeAttributes", "csiSecretName", "csiSecretNamespace"} {
			c.drop("spec.pv."+f, "namespaced claims have no static volume of a CSI driver: a Job fills a volume of pv.pvcStorageClassName",
				"use --flavour=claims with the package koldun-claims to keep it, or leave out pv: roots fetch the files")
		}
	}
	if adoptVolume(c) {
		return
	}
	if !c.given("spec.conversion") && !c.given("spec.preConverted") {
		c.info("spec.conversion", "without it the old operator converted nothing, and the Model could not be served; Koldun converts to q40")
	}
}

// adoptVolume makes a preConverted Model of one whose volume the old operator has
// filled: nothing is downloaded or converted again.
func adoptVolume(c *conversion) bool {
	claim := c.text("status.outputPVCName")
	if claim == "" || !c.options.Volumes || c.given("spec.preConverted") {
		return false
	}
	c.put("spec.preConverted", "status.outputPVCName", true)
	c.put("spec.preConvertedPVCName", "status.outputPVCName", claim)
	if size, ok := get(c.in, "status.conversionSizeBytes"); ok {
		c.put("spec.preConvertedSizeBytes", "status.conversionSizeBytes", size)
	}
	c.info("status.outputPVCName", fmt.Sprintf("the converted files in PersistentVolumeClaim %q are served as they are", claim))
	c.todo("status.outputPVCName", "the old operator deletes the PersistentVolume of a Model that is deleted",
		fmt.Sprintf("stop the old operator before you delete the old Model, and check that the volume is kept: kubectl get pv $(kubectl get pvc %s%s -o jsonpath='{.spec.volumeName}') -o jsonpath='{.spec.persistentVolumeReclaimPolicy}'", word(claim), c.flag()))
	return true
}

func convertDllama(c *conversion) {
	if c.given("spec.modelRef.name") {
		c.put("spec.modelRef.name", "spec.modelRef.name", c.label("spec.modelRef.name", v1.KindModel))
	}
	if c.text("spec.modelRef.apiGroup") == groupKold {
		c.put("spec.modelRef.apiGroup", "spec.modelRef.apiGroup", v1.Group)
	}
	dropEngineImages(c, "spec.rootImage", "spec.workerImage")
	c.natsCredentials("spec.nats")
	if c.doc.Object["apiVersion"] == groupKold+"/v1" {
		c.info("", "kold had no API; add spec.expose to serve the model over HTTP, or an Ingress for all models of the namespace")
	}
}

func convertRoot(c *conversion) {
	dropEngineImages(c, "spec.image")
	c.natsCredentials("spec.nats")
}

func convertSession(c *conversion) {
	convertDllama(c)
	dropEngineImages(c, "spec.dispatcherImage")
	c.move("spec.minIdle", "spec.scaling.minDllamas")
	c.move("spec.maxWorkers", "spec.scaling.maxDllamas")
	c.drop("spec.hash", "it was the hash of one client's headers; the pool serves all requests for the model", "")
}

// dropEngineImages drops images of the old operator: its image held everything.
func dropEngineImages(c *conversion, fields ...string) {
	for _, f := range fields {
		if isKoldun(c.text(f)) {
			c.take(f)
			c.info(f, imageWhy)
		}
	}
}

// isKoldun reports whether an image is one of the old operator, of whichever
// registry.
func isKoldun(image string) bool {
	image, _, _ = strings.Cut(image, "@")
	base := path.Base(image)
	base, _, _ = strings.Cut(base, ":")
	return base == "koldun" || base == "kold"
}

func convertIngress(c *conversion) {
	b := "spec.backend."
	for _, f := range []string{b + "image", b + "dispatcherImage"} {
		if c.given(f) {
			c.take(f)
			c.info(f, "it has the gateway of the old operator, so the image of this version of Koldun is used")
		}
	}
	dropEngineImages(c, b+"rootImage", b+"workerImage")
	if c.text(b+"imagePullPolicy") == "Never" && !c.given(b+"rootImage") && !c.given(b+"workerImage") {
		c.drop(b+"imagePullPolicy", "it was for an image of the old operator on the nodes", "")
	}
	c.secretRef(b+"hashSecret", b+"hashSecretRef", c.name()+"-hash", "hashSecret")
	c.natsCredentials(b + "nats")
	for field, fixed := range map[string]string{"modelsBucket": names.ModelsBucket, "tokensBucket": names.TokensBucket, "modelPrefix": "model/", "tokenPrefix": "token/"} {
		if c.text(b+"nats."+field) == fixed {
			c.take(b + "nats." + field)
		}
	}
	if p, ok := get(c.in, b+"replicaPower"); ok && p == int64(0) {
		c.take(b + "replicaPower")
		c.info(b+"replicaPower", "0 stands for the Model's, which is the default")
	}
	convertExtraArgs(c)
}

// convertExtraArgs turns flags of the old backend into fields.
func convertExtraArgs(c *conversion) {
	const field = "spec.backend.extraArgs"
	v, ok := c.take(field)
	if !ok {
		return
	}
	args, _ := v.([]any)
	fields := backendFlags()
	for i := 0; i < len(args); i++ {
		at := fmt.Sprintf("%s[%d]", field, i)
		arg, _ := args[i].(string)
		flag, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		to, known := fields[flag]
		if !given && known && to.boolean {
			value = "true"
		} else if !given && i+1 < len(args) {
			if next, _ := args[i+1].(string); !strings.HasPrefix(next, "-") {
				value = next
				i++
			}
		}
		switch {
		case !known:
			c.lose(at, fmt.Sprintf("the gateway has no flag --%s", flag), "see docs/guides/from/koldun.md")
		case c.given(to.path):
			c.lose(at, to.path+" is given, too, and precedes it", "")
		case to.boolean:
			c.put(to.path, at, value == "true")
			c.info(at, "is now "+to.path)
		case to.secret:
			c.put("metadata.hashSecret", at, value)
			c.secretRef("metadata.hashSecret", to.path, c.name()+"-hash", "hashSecret")
		default:
			c.put(to.path, at, number(value))
			c.info(at, "is now "+to.path)
		}
	}
}

type backendField struct {
	path            string
	boolean, secret bool
}

func backendFlags() map[string]backendField {
	b := "spec.backend."
	return map[string]backendField{
		"backend-allow-anonymous":                 {path: b + "allowAnonymous", boolean: true},
		"backend-conversation-ttl":                {path: b + "conversationTTL"},
		"backend-response-timeout":                {path: b + "responseTimeout"},
		"backend-session-min-dllamas":             {path: b + "sessionScaling.minDllamas"},
		"backend-session-max-dllamas":             {path: b + "sessionScaling.maxDllamas"},
		"backend-session-scale-up-backlog":        {path: b + "sessionScaling.scaleUpBacklog"},
		"backend-session-scale-down-idle-seconds": {path: b + "sessionScaling.scaleDownIdleSeconds"},
		"backend-replica-power":                   {path: b + "replicaPower"},
		"backend-hash-secret":                     {path: b + "hashSecretRef", secret: true},
	}
}

// tokenSecret makes a Secret of a Token, which held the hash of a token only.
func tokenSecret(c *conversion, meta map[string]any) map[string]any {
	data := map[string]any{}
	for _, key := range []string{"hash", "disabled"} {
		if v, ok := c.take("spec." + key); ok {
			data[key] = fmt.Sprint(v)
		}
	}
	if v, ok := c.take("spec.metadata"); ok {
		data["metadata"] = jsonText(v)
	}
	set(meta, "labels["+v1.LabelToken+"]", "true")
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": data}
}
