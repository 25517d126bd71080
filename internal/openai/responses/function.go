package responses

import (
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
	const hashed = 8
	short := strings.Map(func(r rune) rune {
		if r < 0x80 && isNameByte(byte(r)) {
			return r
		}
		return '_'
	}, full)
	return short[:min(len(short), maxFunctionName-hashed-1)] + "_" + names.Hash(hashed, f.namespace, f.name)
}

// called returns the function that the model calls by its name in chats. A name that no
// tool has is returned as it is.
func (r *Request) called(inChats string) functionName {
	for _, t := range r.tools {
		if f := t.function(); f.namespace != "" && f.inChats() == inChats {
			return f
		}
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
