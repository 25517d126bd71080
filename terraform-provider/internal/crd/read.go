package crd

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// immutableRule is the CEL rule that makes a field immutable.
const immutableRule = "self == oldSelf"

// read converts a schema into a field. It returns an error with the path of a
// schema that Terraform cannot express.
func read(path, name string, s *extv1.JSONSchemaProps) (*Field, error) {
	f := &Field{Name: name, Attribute: Snake(name), Description: strings.Join(strings.Fields(s.Description), " "), Minimum: s.Minimum, Maximum: s.Maximum, Moment: s.Format == "date-time", Secret: s.Format == "password"}
	for _, r := range s.XValidations {
		f.Immutable = f.Immutable || r.Rule == immutableRule
	}
	if s.Default != nil {
		if err := json.Unmarshal(s.Default.Raw, &f.Default); err != nil {
			return nil, fmt.Errorf("cannot read the default of %s: %w", path, err)
		}
	}
	for _, e := range s.Enum {
		if v := strings.Trim(string(e.Raw), `"`); v != "" {
			f.Enum = append(f.Enum, v)
		}
	}
	if err := f.shape(path, s); err != nil {
		return nil, err
	}
	f.Empty = mayBeEmpty(f, s)
	return f, nil
}

// mayBeEmpty reports whether the schema allows the empty value. It does not
// evaluate CEL rules.
func mayBeEmpty(f *Field, s *extv1.JSONSchemaProps) bool {
	some := func(n *int64) bool { return n != nil && *n > 0 }
	switch f.Type {
	case String:
		if s.Format != "" || some(s.MinLength) || len(s.XValidations) > 0 || len(s.Enum) > 0 {
			return false
		}
		pattern, err := regexp.Compile(s.Pattern)
		return err == nil && pattern.MatchString("")
	case List, Set:
		return !some(s.MinItems)
	case Map:
		return !some(s.MinProperties)
	case Quantity, Integer, Number, Bool, Object, JSON:
	}
	return false
}

func (f *Field) shape(path string, s *extv1.JSONSchemaProps) (err error) {
	switch {
	case s.XIntOrString:
		f.Type = Quantity
	case s.Type == "string":
		f.Type = String
	case s.Type == "integer":
		f.Type = Integer
	case s.Type == "number":
		f.Type = Number
	case s.Type == "boolean":
		f.Type = Bool
	case s.Type == "array" && s.Items != nil && s.Items.Schema != nil:
		f.Type = List
		if s.XListType != nil && *s.XListType == "set" {
			f.Type = Set
		}
		f.Elem, err = read(path+"[*]", "", s.Items.Schema)
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		f.Type = Map
		f.Elem, err = read(path+"[*]", "", s.AdditionalProperties.Schema)
	case s.Type == "object" && len(s.Properties) == 0 && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		f.Type = JSON
	case s.Type == "object":
		f.Type = Object
		err = f.children(path, s)
	default:
		err = fmt.Errorf("cannot use the schema of %s: type %q has no equal in Terraform", path, s.Type)
	}
	return err
}

func (f *Field) children(path string, s *extv1.JSONSchemaProps) error {
	required := map[string]bool{}
	for _, r := range s.Required {
		required[r] = true
	}
	taken := map[string]string{}
	for name := range s.Properties {
		p := s.Properties[name]
		c, err := read(path+"."+name, name, &p)
		if err != nil {
			return err
		}
		if other, ok := taken[c.Attribute]; ok {
			return fmt.Errorf("cannot use the schema of %s: fields %q and %q would both be %q", path, other, name, c.Attribute)
		}
		taken[c.Attribute] = name
		// A field with a default may be left out.
		c.Required = required[name] && c.Default == nil
		f.Fields = append(f.Fields, c)
	}
	sort.Slice(f.Fields, func(i, j int) bool { return f.Fields[i].Attribute < f.Fields[j].Attribute })
	return nil
}
