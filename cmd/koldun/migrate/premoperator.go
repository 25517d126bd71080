package migrate

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

const groupPrem = "premlabs.io"

func premKinds() []kind {
	groups := []string{groupPrem}
	return []kind{
		{groups: groups, name: "AIModelMap", to: v1.KindAIModelMap},
		{groups: groups, name: "AIDeployment", to: v1.KindAIDeployment, convert: convertAIDeployment},
		{groups: groups, name: "AutoNodeLabeler", to: v1.KindAutoNodeLabeler, cluster: true, rule: true, convert: convertAutoNodeLabeler},
	}
}

func convertAIDeployment(c *conversion) {
	c.secretEnv("spec.env", c.name()+"-env")
	for _, list := range []string{"containers", "initContainers"} {
		at := "spec.deployment.template.spec." + list
		v, _ := get(c.in, at)
		containers, _ := v.([]any)
		for i := range containers {
			c.secretEnv(indexed(at, i)+".env", c.name()+"-"+c.text(indexed(at, i)+".name")+"-env")
		}
	}
	if ns := mapNamespaces(c); len(ns) > 0 {
		c.todo("spec.models", "a map of another namespace grants its use",
			fmt.Sprintf("add %q to spec.access.namespaces of the AIModelMaps in %q", c.namespace(), ns))
	}
	if name := c.text("spec.engine.name"); name == "generic" {
		c.drop("spec.models", "Prem-Operator ignored the models of a generic engine", "describe them in args, env or deployment.template")
	}
	if options := c.fields("spec.engine.options"); options != nil {
		for _, name := range sorted(options) {
			if !known(c.claims[c.kind.to], "spec.engine.options."+name) {
				c.drop(child("spec.engine.options", name), "Prem-Operator ignored it, too", "")
			}
		}
	}
}

// mapRefs returns the paths of the references to maps.
func mapRefs(c *conversion) []string {
	models, _ := get(c.in, "spec.models")
	list, _ := models.([]any)
	var out []string
	for i := range list {
		if ref := indexed("spec.models", i) + ".modelMapRef"; c.given(ref + ".name") {
			out = append(out, ref)
		}
	}
	return out
}

// mapNamespaces returns the other namespaces whose maps the models refer to.
func mapNamespaces(c *conversion) []string {
	found := map[string]bool{}
	for _, ref := range mapRefs(c) {
		if ns := c.text(ref + ".namespace"); ns != "" && ns != c.namespace() {
			found[ns] = true
		}
	}
	return sorted(found)
}

func convertAutoNodeLabeler(c *conversion) {
	c.info("spec.labels", "labels that the old operator has given stay on the nodes with their old owner; an AutoNodeLabeler changes and removes only its own")
	convertExpression(c, "spec.matchExpression")
	labels := c.fields("spec.labels")
	for _, key := range sorted(labels) {
		domain, _, prefixed := strings.Cut(key, "/")
		if prefixed && (strings.HasSuffix(domain, "kubernetes.io") || strings.HasSuffix(domain, "k8s.io")) {
			delete(labels, key)
			c.lose(child("spec.labels", key), "labels of kubernetes.io and k8s.io belong to Kubernetes", "")
		}
	}
	if len(labels) == 0 {
		c.fail("spec.labels", "no label is left that a rule may give")
	}
}

// convertExpression makes an expression mean what it meant.
func convertExpression(c *conversion, at string) {
	if !c.given(at) {
		c.fail(at, "it is missing, and a rule without criteria labels every node")
		return
	}
	switch c.text(at + ".operator") {
	case "Exists", "DoesNotExist":
		if v, ok := get(c.in, at+".values"); ok {
			delete(c.fields(at), "values")
			if !isEmpty(v) {
				c.info(at+".values", "they had no effect: Exists and DoesNotExist compare no values")
			}
		}
	}
	switch op := c.text(at + ".operator"); op {
	case "NotIn", "DoesNotExist":
		c.info(at+".operator", "Prem-Operator did nothing for "+op+"; now the nodes that fulfil it get the labels")
	}
}
