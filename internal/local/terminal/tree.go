package terminal

import (
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/local"
)

// object is what is known of an event's object.
func (t *Terminal) object(e local.Event) *object {
	if o := t.objects[e.Object]; o != nil {
		return o
	}
	o := &object{
		key: e.Object, owner: e.Owner, role: e.Role, added: e.Time,
		conditions: map[string]local.Condition{}, starts: map[string]int{},
	}
	t.objects[e.Object] = o
	t.order = append(t.order, e.Object)
	return o
}

func (t *Terminal) forget(key local.Key) {
	t.screen.drop(key)
	delete(t.objects, key)
	t.order = slices.DeleteFunc(t.order, func(k local.Key) bool { return k == key })
}

// name of an object; the namespace goes without saying if it is the default.
func (t *Terminal) name(o *object) string {
	if o.key.Namespace == "default" {
		return o.key.Kind + " " + o.key.Name
	}
	return o.key.String()
}

func (o *object) workload() bool { return o.key.Kind == "Deployment" || o.key.Kind == "StatefulSet" }

// shown reports whether an object is part of the picture of what runs.
func (o *object) shown() bool {
	return o.workload() || o.address != "" || o.notRun || o.key.Group() == local.CompositeGroup
}

// tree draws what runs below an object.
func (t *Terminal) tree(root *object) []string { return t.branches(root.key, "          ") }

func (t *Terminal) branches(owner local.Key, indent string) []string {
	var children []*object
	for _, key := range t.order {
		if o := t.objects[key]; o.owner == owner && o.shown() {
			children = append(children, o)
		}
	}
	var lines []string
	for i, o := range children {
		joint, rail := t.fork, t.rail
		if i == len(children)-1 {
			joint, rail = t.last, t.blank
		}
		lines = append(lines, t.paint(dim, indent+joint)+t.leaf(o))
		lines = append(lines, t.branches(o.key, indent+rail)...)
	}
	return lines
}

func (t *Terminal) leaf(o *object) string {
	text := fmt.Sprintf("%-11s %s", o.role, t.name(o))
	switch {
	case o.notRun:
		text += "  " + t.paint(dim, "not run here")
	case o.address != "":
		text += "  " + t.paint(cyan, o.address)
	case o.message != "":
		text += "  " + t.paint(green, o.message)
	}
	return text
}
