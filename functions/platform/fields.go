package platform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Row says what authors of claims reach by some fields, and who may set them. The rows are
// one table, so that what is documented is what is checked.
type Row struct {
	// Kinds that have the fields; none is all kinds of claims.
	Kinds []string
	// Fields as patterns of their paths: a|b is a or b, * any name, ** any names. Lists do not
	// count as a name. A pattern covers all below it.
	Fields []string
	// Reach is what the fields reach.
	Reach string
	// Grant of a Rule that allows them; "" if authors of the kind may set them.
	Grant string
	// Privilege is the value of the grant privileges that allows them.
	Privilege string

	// needs returns the values of a field that need the grant. nil: the function of the kind
	// knows them.
	needs func(value any) []string
	// keyed: the values are keys of the field.
	keyed bool
}

// Covers reports whether the row is about a field of a kind: names without lists.
func (r Row) Covers(kind string, names []string) bool {
	return r.of(kind) && slices.ContainsFunc(r.patterns(), func(p pattern) bool { return append(p, []string{"**"}).matches(names) })
}

func (r Row) of(kind string) bool {
	if len(r.Kinds) == 0 {
		return slices.Contains(claimKinds(), kind)
	}
	return slices.Contains(r.Kinds, kind)
}

// A pattern has the alternatives of each name.
type pattern [][]string

func (r Row) patterns() []pattern {
	out := make([]pattern, len(r.Fields))
	for i, field := range r.Fields {
		for name := range strings.SplitSeq(field, ".") {
			out[i] = append(out[i], strings.Split(name, "|"))
		}
	}
	return out
}

// matches reports whether names are what the pattern says, from the first to the last.
func (p pattern) matches(names []string) bool {
	switch {
	case len(p) == 0:
		return len(names) == 0
	case p[0][0] == "**":
		return p[1:].matches(names) || len(names) > 0 && p.matches(names[1:])
	case len(names) == 0 || p[0][0] != "*" && !slices.Contains(p[0], names[0]):
		return false
	}
	return p[1:].matches(names[1:])
}

// Uses lists what the spec of a claim uses that needs a grant, by the table, in the order of
// its fields.
func Uses(kind string, spec any) []Use {
	w := walk{patterns: map[int][]pattern{}, rows: slices.DeleteFunc(granted(), func(r Row) bool { return r.needs == nil || !r.of(kind) })}
	for i, r := range w.rows {
		w.patterns[i] = r.patterns()
	}
	w.visit("spec", []string{"spec"}, spec)
	return w.uses
}

// A walk collects the uses of a claim.
type walk struct {
	rows     []Row
	patterns map[int][]pattern // of each row
	uses     []Use
}

func (w *walk) visit(path string, names []string, value any) {
	if list, ok := value.([]any); ok {
		for i, element := range list {
			w.visit(fmt.Sprintf("%s[%d]", path, i), names, element)
		}
		return
	}
	for i, r := range w.rows {
		if slices.ContainsFunc(w.patterns[i], func(p pattern) bool { return p.matches(names) }) {
			w.add(r, path, value)
		}
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		w.visit(path+"."+name, append(slices.Clone(names), name), fields[name])
	}
}

func (w *walk) add(r Row, path string, value any) {
	for _, needed := range r.needs(value) {
		field := path
		if r.keyed {
			field = fmt.Sprintf("%s[%q]", path, needed)
		}
		w.uses = append(w.uses, Use{Field: field, What: noun(r.Grant), Value: needed, Grant: r.Grant})
	}
}

// Who says who may set the fields.
func (r Row) Who() string {
	switch {
	case r.Grant == "privileges":
		return "the author, if `privileges` has `" + r.Privilege + "`"
	case r.Grant != "":
		return "the author, if `" + r.Grant + "` allows it"
	case r.of(claimKinds()[0]) || slices.ContainsFunc(r.Kinds, func(kind string) bool { return slices.Contains(claimKinds(), kind) }):
		return "the author"
	}
	return "the platform team, by rights on the kind"
}
