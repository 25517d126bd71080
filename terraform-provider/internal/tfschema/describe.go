package tfschema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// Replaces documents an attribute that cannot change in place.
const Replaces = "A change replaces the resource."

// Describe returns the documentation of a field.
func Describe(f *crd.Field) string { return described(f, f.Default) }

// described is Describe with another default; nil means none.
func described(f *crd.Field, fallback any) string {
	parts := []string{f.Description}
	if len(f.Enum) > 0 {
		parts = append(parts, "One of `"+strings.Join(f.Enum, "`, `")+"`.")
	}
	switch {
	case f.Duration && f.Elem != nil:
		parts = append(parts, "Durations such as `90s`, `10m` or `1h30m`.")
	case f.Duration:
		parts = append(parts, "A duration such as `90s`, `10m` or `1h30m`.")
	case f.Type == crd.JSON:
		parts = append(parts, "An object of any fields, written with `jsonencode`.")
	case f.Moment:
		parts = append(parts, "An RFC 3339 time such as `2027-01-31T00:00:00Z`.")
	case len(f.Enum) == 0:
		parts = append(parts, limits(f.Minimum, f.Maximum))
	}
	if f.Secret {
		parts = append(parts, "Terraform refuses a value: plans and the state would hold it. Put it into a Secret and name that instead.")
	}
	if fallback != nil {
		raw, err := json.Marshal(fallback)
		if text := string(raw); err == nil && text != "{}" && text != "[]" && text != `""` {
			parts = append(parts, fmt.Sprintf("Default: `%s`.", strings.Trim(text, `"`)))
		}
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// limits describes the range of a number. It does not mention a minimum of 0.
func limits(least, most *float64) string {
	number := func(n *float64) string { return strconv.FormatFloat(*n, 'f', -1, 64) }
	switch {
	case most != nil && least != nil:
		return fmt.Sprintf("From %s to %s.", number(least), number(most))
	case most != nil:
		return fmt.Sprintf("At most %s.", number(most))
	case least != nil && *least > 0:
		return fmt.Sprintf("At least %s.", number(least))
	}
	return ""
}
