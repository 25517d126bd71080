package migrate

import "k8s.io/apimachinery/pkg/runtime"

// A conversion turns one old object into claims.
type conversion struct {
	*Migrator
	*record

	kind *kind
	in   map[string]any
	keys []secretKey // that the claim refers to, and the user makes
}

// given reports whether the old object has a field.
func (c *conversion) given(path string) bool {
	_, ok := get(c.in, path)
	return ok
}

func (c *conversion) text(path string) string {
	v, _ := get(c.in, path)
	s, _ := v.(string)
	return s
}

// fields returns the fields of an object in the old object.
func (c *conversion) fields(path string) map[string]any {
	v, _ := get(c.in, path)
	m, _ := v.(map[string]any)
	return m
}

// take returns the value of a field and removes it: nothing notes it any more.
func (c *conversion) take(path string) (any, bool) {
	v, ok := get(c.in, path)
	if ok {
		remove(c.in, path)
	}
	return v, ok
}

// drop takes a field and notes that its effect is gone.
func (c *conversion) drop(path, why, do string) {
	if _, ok := c.take(path); ok {
		c.lose(path, why, do)
	}
}

// move gives a field another place, unless that is taken.
func (c *conversion) move(from, to string) {
	v, ok := get(c.in, from)
	if !ok {
		return
	}
	if c.given(to) {
		c.drop(from, to+" is given, too, and precedes it", "")
		return
	}
	c.info(from, "is now "+to)
	remove(c.in, from)
	set(c.in, to, v)
	c.from[to] = from
}

// put sets a field of the claim that comes of the field of the old object.
func (c *conversion) put(to, from string, v any) {
	set(c.in, to, v)
	c.from[to] = from
}

func (c *conversion) name() string      { return c.text("metadata.name") }
func (c *conversion) namespace() string { return c.text("metadata.namespace") }

// flag is the namespace as an argument of kubectl.
func (c *conversion) flag() string {
	if ns := c.namespace(); ns != "" {
		return " -n " + word(ns)
	}
	return ""
}

func copyOf(obj map[string]any) map[string]any { return runtime.DeepCopyJSON(obj) }
