package migrate

import (
	"fmt"
	"strings"
)

// A record is what the user learns of a conversion.
type record struct {
	doc   *Document
	old   string            // KIND NAMESPACE/NAME
	from  map[string]string // the path of a moved field in the old object, by its new path
	notes []Note
	fault error // why no claim can be made, once it is known
}

func (r *record) note(level Level, path, why, do string) {
	r.notes = append(r.notes, Note{Level: level, Where: r.doc.where(r.origin(path)), Of: r.old, Path: r.origin(path), Why: why, Do: do})
}

// origin returns the path that a field had in the old object.
func (r *record) origin(path string) string {
	for at := path; at != ""; at = parent(at) {
		if from, moved := r.from[at]; moved {
			return from + strings.TrimPrefix(path, at)
		}
	}
	return path
}

func (r *record) lose(path, why, do string) { r.note(Lost, path, why, do) }
func (r *record) info(path, why string)     { r.note(Info, path, why, "") }
func (r *record) todo(path, why, do string) { r.note(Todo, path, why, do) }

// fail says why no claim can be made of the object.
func (r *record) fail(path, why string) {
	if r.fault == nil {
		r.fault = fmt.Errorf("%s at %s: %s", r.origin(path), r.doc.where(r.origin(path)), why)
	}
}
