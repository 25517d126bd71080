package pod

import "strings"

// expand replaces $(NAME) by the variable's value, as Kubernetes does: $$ is a
// dollar sign, and unknown names stay unchanged.
func expand(s string, vars map[string]string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 || i == len(s)-1 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s, ')')
		switch {
		case s[1] == '$':
			b.WriteByte('$')
			s = s[2:]
		case s[1] == '(' && end > 0:
			value, known := vars[s[2:end]]
			if !known {
				value = s[:end+1]
			}
			b.WriteString(value)
			s = s[end+1:]
		default:
			b.WriteString(s[:2])
			s = s[2:]
		}
	}
}
