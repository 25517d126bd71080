package migrate

import (
	"fmt"
	"regexp"
	"strings"
)

// userInfo matches the credentials of a URL.
var userInfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"']*@`)

// The ends of names of flags and variables that hold a secret.
const secretEnd = `(?:token|secret|passw(?:or)?d|passphrase|key|credentials?|licen[sc]e|[-_]pass)`

var (
	flagAlone  = regexp.MustCompile(`(?i)^--?[a-z0-9_.-]*` + secretEnd + `$`)
	flagWith   = regexp.MustCompile(`(?i)^((?:--?)?[a-z0-9_.-]*` + secretEnd + `)=(.+)$`)
	flagInText = regexp.MustCompile(`(?i)(^|[\s;&|"'])((?:--?)?[a-z0-9_.-]*` + secretEnd + `)(=|\s+)("[^"]*"|'[^']*'|[^\s;&|"']+)`)
)

// A scrubber removes secrets, and notes them.
type scrubber struct{ *record }

// scrub removes the secrets of arguments and URLs that a value has left. No Secret
// can stand for a part of a text, so the user has to.
func (s scrubber) scrub(v any, path string) any {
	switch x := v.(type) {
	case map[string]any:
		for _, name := range sorted(x) {
			x[name] = s.scrub(x[name], child(path, name))
		}
	case []any:
		if isArguments(path) {
			x = s.scrubArguments(x, path)
		}
		for i := range x {
			x[i] = s.scrub(x[i], indexed(path, i))
		}
		return x
	case string:
		clean := userInfo.ReplaceAllString(x, "$1")
		if clean != x {
			s.todo(path, "the credentials of its URL are not copied", "refer to a Secret for them")
		}
		return clean
	}
	return v
}

// isArguments reports whether a list has the arguments of a command.
func isArguments(path string) bool {
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch name {
	case "args", "command", "launchOptions", "extraArgs":
		return true
	}
	return false
}

func (s scrubber) scrubArguments(args []any, path string) []any {
	out := make([]any, 0, len(args))
	drop := func(i int, flag string) {
		s.todo(indexed(path, i), fmt.Sprintf("the secret of %s is not copied", flag), "put it into a Secret, refer to that in env, and give the flag as $(NAME_OF_THE_VARIABLE)")
	}
	for i := 0; i < len(args); i++ {
		arg, _ := args[i].(string)
		next := ""
		if i+1 < len(args) {
			next, _ = args[i+1].(string)
		}
		with := flagWith.FindStringSubmatch(arg)
		switch {
		case with != nil && !isReference(with[2]):
			drop(i, with[1])
		case flagAlone.MatchString(arg) && next != "" && !strings.HasPrefix(next, "-") && !isReference(next):
			drop(i, arg)
			i++
		case strings.ContainsAny(arg, " \t\n"):
			out = append(out, s.scrubCommand(arg, indexed(path, i)))
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// scrubCommand removes secrets of a command line in one text, as for sh -c.
func (s scrubber) scrubCommand(text, path string) string {
	return flagInText.ReplaceAllStringFunc(text, func(found string) string {
		m := flagInText.FindStringSubmatch(found)
		if isReference(strings.Trim(m[4], `"'`)) || m[3] != "=" && !strings.HasPrefix(m[2], "-") {
			return found
		}
		s.todo(path, fmt.Sprintf("the secret of %s is not copied", m[2]), "put it into a Secret, and refer to that in env")
		return m[1]
	})
}

// isReference reports whether a value is that of a variable: it is no secret itself.
func isReference(value string) bool { return strings.HasPrefix(value, "$") }
