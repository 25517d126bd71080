// Package hcl writes claims as resources of the Terraform provider.
package hcl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// WriteClaim writes the resource of a claim, and a block that imports the claim of
// that name from the cluster. Comments precede them. Names and types of attributes
// are those of the provider's schema. taken has the addresses of earlier resources. An
// error means that the provider has no resource for the object.
func WriteClaim(to io.Writer, obj map[string]any, comments []string, taken Addresses) error {
	kind, err := kindOf(obj)
	if err != nil {
		return err
	}
	file := hclwrite.NewEmptyFile()
	for _, c := range comments {
		file.Body().AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + oneLine(c) + "\n")}})
	}
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	address := taken.of("koldun_"+ResourceName(kind.Kind), namespace, name)

	b := file.Body().AppendNewBlock("resource", address).Body()
	for _, key := range []string{"namespace", "name", "labels", "annotations"} {
		if v, ok := meta[key]; ok && (key != "namespace" || kind.Namespaced) {
			tokens, err := literal(v)
			if err != nil {
				return err
			}
			b.SetAttributeRaw(key, tokens)
		}
	}
	spec, _ := obj["spec"].(map[string]any)
	for _, f := range kind.Spec.Fields {
		v, ok := spec[f.Name]
		if !ok {
			continue
		}
		tokens, err := expression(f, v)
		if err != nil {
			return fmt.Errorf("cannot write spec.%s of %s %q: %w", f.Name, kind.Kind, name, err)
		}
		b.SetAttributeRaw(cmp.Or(Renamed(kind.Kind)[f.Name], f.Attribute), tokens)
	}
	file.Body().AppendNewline()
	id := name
	if kind.Namespaced {
		if namespace == "" {
			namespace = "default"
		}
		id = namespace + "/" + name
	}
	imports := file.Body().AppendNewBlock("import", nil).Body()
	imports.SetAttributeRaw("to", hclwrite.TokensForIdentifier(strings.Join(address, ".")))
	imports.SetAttributeValue("id", cty.StringVal(id))
	file.Body().AppendNewline()
	_, err = file.WriteTo(to)
	return err
}

// Renamed returns the attributes of a kind's fields that have the name of an
// attribute of all claims.
func Renamed(kind string) map[string]string {
	if kind == "AutoNodeLabeler" {
		return map[string]string{"labels": "node_labels"}
	}
	return nil
}

// ResourceName returns the name of a kind's resource, without "koldun_".
func ResourceName(kind string) string { return crd.Snake(kind) }

func kindOf(obj map[string]any) (*crd.Kind, error) {
	name, _ := obj["kind"].(string)
	files, err := fs.Glob(crds.Files, crd.Composite+"_*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		plural := strings.TrimSuffix(strings.TrimPrefix(file, crd.Composite+"_"), ".yaml")
		k, err := crd.Load(crd.Composite, plural)
		if err != nil {
			return nil, err
		}
		if k.Kind == name && obj["apiVersion"] == k.APIVersion() {
			return k, nil
		}
	}
	return nil, fmt.Errorf("there is no resource for kind %q of %v", name, obj["apiVersion"])
}

// expression writes a value of a field, with the attributes' names.
func expression(f *crd.Field, v any) (hclwrite.Tokens, error) {
	if f.Type == crd.JSON {
		argument, err := literal(v)
		if err != nil {
			return nil, err
		}
		return hclwrite.TokensForFunctionCall("jsonencode", argument), nil
	}
	switch x := v.(type) {
	case map[string]any:
		if f.Type != crd.Object && f.Type != crd.Map {
			return literal(v)
		}
		return object(f, x)
	case []any:
		if f.Elem == nil {
			return literal(v)
		}
		items := make([]hclwrite.Tokens, 0, len(x))
		for _, item := range x {
			tokens, err := expression(f.Elem, item)
			if err != nil {
				return nil, err
			}
			items = append(items, tokens)
		}
		return hclwrite.TokensForTuple(items), nil
	}
	if f.Type == crd.Quantity {
		return hclwrite.TokensForValue(cty.StringVal(fmt.Sprint(v))), nil
	}
	return literal(v)
}

func object(f *crd.Field, x map[string]any) (hclwrite.Tokens, error) {
	var attributes []hclwrite.ObjectAttrTokens
	names := make([]string, 0, len(x))
	for name := range x {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key, sub := hclwrite.TokensForValue(cty.StringVal(name)), f.Elem
		if f.Type == crd.Object {
			if sub = f.Child(name); sub == nil {
				return nil, fmt.Errorf("the provider has no attribute for %q", name)
			}
			key = hclwrite.TokensForIdentifier(sub.Attribute)
		}
		tokens, err := expression(sub, x[name])
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, hclwrite.ObjectAttrTokens{Name: key, Value: tokens})
	}
	return hclwrite.TokensForObject(attributes), nil
}

// literal writes a value of JSON.
func literal(v any) (hclwrite.Tokens, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	typ, err := ctyjson.ImpliedType(raw)
	if err != nil {
		return nil, err
	}
	value, err := ctyjson.Unmarshal(raw, typ)
	if err != nil {
		return nil, err
	}
	return hclwrite.TokensForValue(value), nil
}

// Addresses are those of the resources of one configuration.
type Addresses map[string]bool

// of takes an address for a claim. Claims of two namespaces may have one name.
func (a Addresses) of(resource, namespace, name string) []string {
	id := identifier(name)
	for n := 1; a[resource+"."+id]; n++ {
		id = identifier(strings.TrimPrefix(namespace+"_"+name, "_"))
		if n > 1 {
			id += fmt.Sprintf("_%d", n)
		}
	}
	a[resource+"."+id] = true
	return []string{resource, id}
}

// oneLine replaces line breaks and control characters, which would end a comment.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)
}

var notIdentifier = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// identifier returns a name as an identifier of Terraform.
func identifier(name string) string {
	out := notIdentifier.ReplaceAllString(name, "_")
	if out == "" || out[0] >= '0' && out[0] <= '9' || out[0] == '-' {
		return "_" + out
	}
	return out
}
