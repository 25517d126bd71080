package migrate

import (
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// The groups of Model Orchestra: its first and its later names.
const (
	groupTitan     = "models.titanml.co"
	groupCharts    = "charts.titanml.co"
	groupDoubleway = "doublewordai.co"
)

// extraSecret matches the names that the schema refuses in extra.
var extraSecret = regexp.MustCompile(`key$|keys$|passw|passphrase|(^|_)pass(_|$)|secret|licen[cs]e|credential|token$|(^|_)token_`)

func orchestraKinds() []kind {
	var out []kind
	for _, k := range []struct{ name, chart string }{{"ModelOrchestra", ""}, {"Takeoff", "takeoff"}, {"InferenceStack", "inference-stack"}} {
		out = append(out, kind{
			groups: []string{groupTitan, groupCharts, groupDoubleway}, name: k.name, to: v1.KindModelOrchestra,
			convert: func(c *conversion) { convertOrchestra(c, k.chart) },
			marks: func(key string) string {
				switch {
				case key == "operatorVersion":
					return "every ModelOrchestra is served; spec.crossplane.compositionRevisionSelector chooses a version"
				case strings.HasPrefix(key, "helm.sdk.operatorframework.io/"):
					return "no Helm release is behind it"
				}
				return ""
			},
		})
	}
	return out
}

// convertOrchestra converts a stack of a chart; empty: that of ModelOrchestra, whose
// objects have our names.
func convertOrchestra(c *conversion, chart string) {
	if chart != "" && c.text("spec.nameOverride") == "" && c.text("spec.fullnameOverride") == "" {
		c.put("spec.nameOverride", "", chart)
		c.info("", "its objects are named after its chart, so spec.nameOverride is "+chart)
	}
	moveExtra(c, "spec.gateway.config")
	convertPod(c, "spec.gateway", c.name()+"-gateway")
	if c.given("spec.applicationTemplate") {
		// With a dot, for an application may have the name template.
		convertApplication(c, "spec.applicationTemplate", c.name()+".template")
	}
	for _, name := range sorted(c.fields("spec.applications")) {
		convertApplication(c, child("spec.applications", name), c.name()+"-"+name)
	}
}

// convertApplication converts an application, whose Secrets have names that begin with
// secrets.
func convertApplication(c *conversion, path, secrets string) {
	c.secretRef(path+".readerConfig.accessToken", path+".readerConfig.accessTokenSecretRef", secrets+"-token", "token")
	moveExtra(c, path+".readerConfig")
	convertPod(c, path, secrets)
}

// moveExtra moves the settings of config.yaml that claims have no field for to the
// field for all others, by their names in that file.
func moveExtra(c *conversion, path string) {
	schema := map[bool]string{true: "spec.gateway.config", false: "spec.applicationTemplate.readerConfig"}[strings.HasPrefix(path, "spec.gateway")]
	for _, name := range sorted(c.fields(path)) {
		if known(c.claims[c.kind.to], schema+"."+name) {
			continue
		}
		if extraSecret.MatchString(snake(name)) {
			c.drop(child(path, name), "a ConfigMap would hold it", "put it into a Secret, and refer to that in env")
			continue
		}
		v, _ := c.take(child(path, name))
		text, err := yaml.Marshal(v)
		if err != nil {
			continue
		}
		c.put(path+".extra."+snake(name), child(path, name), strings.TrimSpace(string(text)))
		c.info(path+".extra."+snake(name), "is now extra."+snake(name))
	}
}

// snake returns a name in snake_case, as the chart wrote names of config.yaml.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// convertPod moves secrets of the environment, and drops what values of Helm have empty to
// say that there is none.
func convertPod(c *conversion, path, secrets string) {
	c.secretEnv(path+".env", secrets+"-env")
	for _, field := range []string{
		"image.tag", "resources", "livenessProbe", "readinessProbe", "podSecurityContext", "securityContext", "affinity", "nodeSelector",
		"tolerations", "volumes", "volumeMounts", "env", "podAnnotations", "podLabels", "ingress.className", "ingress.hosts", "ingress.tls",
	} {
		if v, ok := get(c.in, path+"."+field); ok && isEmpty(v) {
			c.take(path + "." + field)
		}
	}
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}
