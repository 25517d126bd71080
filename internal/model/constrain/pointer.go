package constrain

import (
	"net/url"
	"strconv"
	"strings"
)

// find returns the value at a JSON pointer in a fragment of a URI.
func (v value) find(pointer string) (value, bool) {
	if pointer == "" {
		return v, true
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return value{}, false
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch {
		case v.object != nil && v.object.has(part):
			v = v.object.get(part)
		case v.array != nil:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.array) {
				return value{}, false
			}
			v = v.array[i]
		default:
			return value{}, false
		}
	}
	return v, true
}

func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
