package identity

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/gorizond/koldun/terraform-provider/internal/tfschema"
)

// ID returns the id of a resource. It leaves out places with their defaults.
func (a Attributes) ID(o tfschema.Object) string {
	parts := make([]string, 0, len(a.Parts))
	for _, id := range a.Parts {
		parts = append(parts, o.Text(id))
	}
	id, sep := strings.Join(parts, "/"), "?"
	for _, p := range a.Places {
		if v := o.Text(p.Attribute); v != "" && v != p.Usual {
			id += sep + p.Attribute + "=" + v
			sep = "&"
		}
	}
	return id
}

// parse returns the attributes of an id.
func (a Attributes) parse(id string) (map[string]string, error) {
	values, rest, err := a.places(id)
	if err != nil {
		return nil, fmt.Errorf("the id %q is not of the form %s: %w", id, a.form(), err)
	}
	parts := strings.SplitN(rest, "/", len(a.Parts))
	for i, p := range parts {
		if p == "" || len(parts) != len(a.Parts) {
			return nil, fmt.Errorf("the id %q is not of the form %s", id, a.form())
		}
		values[a.Parts[i]] = p
	}
	return values, nil
}

// places returns the values of the places, and the id without them.
func (a Attributes) places(id string) (values map[string]string, rest string, err error) {
	values = map[string]string{}
	for _, p := range a.Places {
		values[p.Attribute] = p.Usual
	}
	at := strings.LastIndex(id, "?")
	if at < 0 || len(a.Places) == 0 {
		return values, id, nil
	}
	query, err := url.ParseQuery(id[at+1:])
	if err != nil {
		return nil, "", err
	}
	for k := range query {
		if _, ok := values[k]; !ok {
			return nil, "", fmt.Errorf("there is no %q", k)
		}
		if values[k] = query.Get(k); values[k] == "" {
			return nil, "", fmt.Errorf("its %s is empty", k)
		}
	}
	return values, id[:at], nil
}

// form describes the form of ids.
func (a Attributes) form() string {
	out := strings.ToUpper(strings.Join(a.Parts, "/"))
	if len(a.Places) == 0 {
		return out
	}
	query := make([]string, 0, len(a.Places))
	for _, p := range a.Places {
		query = append(query, p.Attribute+"="+strings.ToUpper(p.Attribute))
	}
	return fmt.Sprintf("%s or %s?%s", out, out, strings.Join(query, "&"))
}
