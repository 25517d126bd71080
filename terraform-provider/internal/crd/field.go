// Package crd reads the CustomResourceDefinitions that the binary embeds, as
// trees of fields with their names in YAML and in Terraform.
//
// The CRDs are the only description of our kinds: Terraform offers the fields
// that the API server accepts.
package crd

// A Type is the type of a field's values.
type Type int

// The types.
const (
	String   Type = iota
	Quantity      // a number or a string with a unit in YAML, a string in Terraform
	Integer
	Number
	Bool
	Object // has Fields
	List   // has Elem
	Set    // has Elem
	Map    // has Elem; its keys are strings
	JSON   // an object of any fields in YAML, a string with its JSON in Terraform
)

// A Field is one field of a kind's schema. It does not change after loading.
type Field struct {
	Name        string // in YAML, lowerCamelCase
	Attribute   string // in Terraform, snake_case
	Type        Type
	Description string
	Required    bool
	Empty       bool     // of a String, List, Set or Map: an empty one is allowed
	Kept        bool     // left out of the configuration, it keeps its present value
	Immutable   bool     // the schema has the rule self == oldSelf
	Duration    bool     // a String such as "1h30m", where "90m" means the same
	Default     any      // as JSON decodes it; nil is none
	Moment      bool     // a String that is an RFC 3339 time
	Secret      bool     // a String with the format password: it must not reach plans or the state
	Minimum     *float64 // of an Integer or Number; nil: none
	Maximum     *float64 // likewise
	Enum        []string // nil: any value
	Elem        *Field   // of List, Set and Map
	Fields      []*Field // of Object, in order of Attribute
}

// Child returns the field of an Object with a name in YAML, or nil.
func (f *Field) Child(name string) *Field {
	for _, c := range f.Fields {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// ByAttribute returns the field of an Object with a name in Terraform, or nil.
func (f *Field) ByAttribute(attribute string) *Field {
	for _, c := range f.Fields {
		if c.Attribute == attribute {
			return c
		}
	}
	return nil
}

// Walk calls visit for the field and all fields below it, with their YAML paths.
// The path of an element is that of its list or map and "[*]".
func (f *Field) Walk(path string, visit func(path string, f *Field)) {
	visit(path, f)
	if f.Elem != nil {
		f.Elem.Walk(path+"[*]", visit)
	}
	for _, c := range f.Fields {
		c.Walk(path+"."+c.Name, visit)
	}
}
