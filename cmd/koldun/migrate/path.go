package migrate

import (
	"strconv"
	"strings"
)

// Paths of fields read spec.models[0].name.

func child(path, name string) string {
	switch {
	case strings.ContainsAny(name, ".[]"):
		return path + "[" + name + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// parent returns the path around a path.
func parent(path string) string {
	if strings.HasSuffix(path, "]") {
		return path[:strings.LastIndexByte(path, '[')]
	}
	return path[:max(strings.LastIndexByte(path, '.'), 0)]
}

// steps splits a path.
func steps(path string) []string {
	var out []string
	for path != "" {
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(out, path)
			}
			out, path = append(out, path[1:end]), strings.TrimPrefix(path[end+1:], ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, path)
		}
		out, path = append(out, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return out
}

// get returns the value at a path.
func get(v any, path string) (any, bool) {
	for _, s := range steps(path) {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[s]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// set stores a value at a path of names, and makes the maps on the way.
func set(obj map[string]any, path string, v any) {
	all := steps(path)
	for _, s := range all[:len(all)-1] {
		next, ok := obj[s].(map[string]any)
		if !ok {
			next = map[string]any{}
			obj[s] = next
		}
		obj = next
	}
	obj[all[len(all)-1]] = v
}

// remove deletes the value at a path, and what is empty without it. An item of a
// list takes the others' indices with it.
func remove(v any, path string) any {
	rest, _ := prune(v, steps(path))
	return rest
}

func prune(v any, at []string) (rest any, empty bool) {
	if len(at) == 0 {
		return nil, true
	}
	switch x := v.(type) {
	case map[string]any:
		c, ok := x[at[0]]
		if !ok {
			return x, false
		}
		c, gone := prune(c, at[1:])
		if gone {
			delete(x, at[0])
			return x, len(x) == 0
		}
		x[at[0]] = c
		return x, false
	case []any:
		i, err := strconv.Atoi(at[0])
		if err != nil || i < 0 || i >= len(x) {
			return x, false
		}
		c, gone := prune(x[i], at[1:])
		if gone {
			x = append(x[:i:i], x[i+1:]...)
			return x, len(x) == 0
		}
		x[i] = c
		return x, false
	}
	return v, false
}

func indexed(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
