package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const kindsFile = "docs/reference/kinds.md"

// kindDocs returns kindsFile with the tables of all kinds, by their CRDs.
func kindDocs(root string) ([]byte, error) {
	pages, err := filepath.Glob(filepath.Join(root, "terraform-provider", "docs", "resources", "*.md"))
	if err != nil {
		return nil, err
	}
	resources := map[string]string{} // page of the Terraform resource by singular of the kind
	for _, p := range pages {
		resources[strings.ReplaceAll(strings.TrimSuffix(filepath.Base(p), ".md"), "_", "")] = "../../terraform-provider/docs/resources/" + filepath.Base(p)
	}
	var out bytes.Buffer
	for _, g := range []struct{ title, group string }{{"Claims and composites", group}, {"Managed resources", managedGroup}} {
		crds, err := readGroup(filepath.Join(root, "apis", "crds"), g.group)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "### %s\n\nGroup `%s`.\n\n| kind | | fields |\n| --- | --- | --- |\n", g.title, g.group)
		for _, crd := range crds {
			kind := scoped(crd)
			fields := fmt.Sprintf("`kubectl explain %s`", crd.Spec.Names.Plural)
			if page, ok := resources[crd.Spec.Names.Singular]; ok {
				fields = fmt.Sprintf("[`%s`](%s)", strings.TrimSuffix(filepath.Base(page), ".md"), page)
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", kind, summary(crd), fields)
		}
		if g.group == group {
			out.WriteByte('\n')
		}
	}
	return replaced(root, kindsFile, "apis/crds", out.Bytes())
}

// scoped returns the name of a kind, with its scope unless it is namespaced.
func scoped(crd extv1.CustomResourceDefinition) string {
	if crd.Spec.Scope == extv1.ClusterScoped {
		return "`" + crd.Spec.Names.Kind + "`, of the cluster"
	}
	return "`" + crd.Spec.Names.Kind + "`"
}

// summary returns the first paragraph of the description of a kind.
func summary(crd extv1.CustomResourceDefinition) string {
	var text string
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			text = v.Schema.OpenAPIV3Schema.Description
		}
	}
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
