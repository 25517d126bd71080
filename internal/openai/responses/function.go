package responses

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/names"
)

// A functionName names a function that the model may call. Clients name it in two parts,
// and answers must do so, too; chats have one name.
type functionName struct {
	namespace string // of a group of tools, or ""
	name      string
}

// inChats returns the name for the model: unique, and one that every engine takes.
func (f functionName) inChats() string {
	if f.namespace == "" {
		return f.name
	}
	full := strings.TrimSuffix(f.namespace, "__") + "__" + f.name
	if isFunctionName(full) {
		return full
	}
	return f.hashed()
}

// hashed returns a name that no other function has.
func (f functionName) hashed() string {
	const hashed = 8
	short := strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(f.namespace, "__")+"__"+f.name)
	return short[:min(len(short), maxFunctionName-hashed-1)] + "_" + names.Hash(hashed, f.namespace, f.name)
}

// nameTools gives each tool the name that the model sees, so that no two have the same: a
// function and one of a group may differ only in how their name is parted. A function that
// is offered twice is there once, and listed as left out if its definitions differ.
func (r *Request) nameTools() {
	r.inChats, r.byName = map[functionName]string{}, map[string]functionName{}
	kept := make([]Tool, 0, len(r.tools))
	first := map[functionName]Tool{}
	for _, t := range r.tools {
		before, twice := first[t.function()]
		if !twice {
			first[t.function()] = t
			kept = append(kept, t)
		} else if !bytes.Equal(encode(before), encode(t)) {
			r.leaveOut(t.Type)
		}
	}
	r.tools = kept
	for _, grouped := range []bool{false, true} { // functions without a group keep their names
		for _, t := range r.tools {
			f := t.function()
			if (f.namespace != "") != grouped {
				continue
			}
			name := f.inChats()
			if _, taken := r.byName[name]; taken {
				name = f.hashed()
			}
			r.inChats[f], r.byName[name] = name, f
		}
	}
}

// nameOf returns the name that the model sees of a function of the tools, or of a history.
func (r *Request) nameOf(f functionName) string {
	if name, ok := r.inChats[f]; ok {
		return name
	}
	return f.inChats()
}

// called returns the function that the model calls by its name in chats. A name that no
// tool has is returned as it is.
func (r *Request) called(inChats string) functionName {
	if f, ok := r.byName[inChats]; ok {
		return f
	}
	return functionName{name: inChats}
}

// maxFunctionName is OpenAI's limit, in bytes.
const maxFunctionName = 64

func isFunctionName(name string) bool {
	return name != "" && len(name) <= maxFunctionName && !slices.ContainsFunc([]byte(name), func(c byte) bool { return !isNameByte(c) })
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
