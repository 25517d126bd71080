package crd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// A SecretValue is a secret in a value, where plans and the state would show it.
type SecretValue struct {
	Path    string // in YAML, such as "spec.backend.hashSecret"
	InURL   bool   // it is the credentials in a URL
	Instead *Field // the field beside it that names a Secret; nil if there is none
}

// SecretValues finds the secrets in a value of the field, as JSON decodes it:
// values of fields with the format password, and credentials in URLs. path is
// where the value stands in YAML.
func (f *Field) SecretValues(value any, path string) []SecretValue {
	var out []SecretValue
	f.redact(nil, value, path, func(s SecretValue) { out = append(out, s) })
	return out
}

// Redact returns a value of the field without its secrets. A value that is a
// secret becomes nil; credentials in a URL become "xxxxx".
func (f *Field) Redact(value any) any {
	return f.redact(nil, value, "", func(SecretValue) {})
}

// credentials match what precedes the host in a URL, with or without a colon:
// what NATS reads there without one is a token. Only these schemes have
// credentials: "hf://model@commit" has none.
var credentials = regexp.MustCompile(`(?i)\b((?:nats|tls|wss?|https?)://)[^/?#\s]+@|(://)[^/?#\s@:]*:[^/?#\s]*@`)

func (f *Field) redact(parent *Field, value any, path string, found func(SecretValue)) any {
	switch x := value.(type) {
	case string:
		if f.Secret && x != "" {
			found(SecretValue{Path: path, Instead: parent.secretBeside(f.Name + "Ref")})
			return nil
		}
		if !credentials.MatchString(x) {
			return x
		}
		found(SecretValue{Path: path, InURL: true, Instead: parent.secretBeside("credentialsSecret")})
		return credentials.ReplaceAllString(x, "${1}${2}xxxxx@")
	case []any:
		out := slices.Clone(x)
		for i := range out {
			out[i] = f.Elem.redact(parent, x[i], fmt.Sprintf("%s[%d]", path, i), found)
		}
		return out
	case map[string]any:
		out := maps.Clone(x)
		for _, name := range slices.Sorted(maps.Keys(x)) {
			c, at := f.Elem, path+"["+name+"]"
			if f.Type == Object {
				c, at = f.Child(name), path+"."+name
			}
			if c == nil {
				continue
			}
			if out[name] = c.redact(f, x[name], at, found); out[name] == nil {
				delete(out, name)
			}
		}
		return out
	}
	return value
}

// secretBeside returns a child that names a Secret, or nil.
func (f *Field) secretBeside(name string) *Field {
	if f == nil {
		return nil
	}
	return f.Child(name)
}
