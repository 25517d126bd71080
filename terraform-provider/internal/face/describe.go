package face

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// describe is what the documentation says of a field.
func describe(f *crd.Field) string {
	parts := []string{f.Description}
	if len(f.Enum) > 0 {
		parts = append(parts, "One of `"+strings.Join(f.Enum, "`, `")+"`.")
	}
	if f.Default != nil {
		raw, err := json.Marshal(f.Default)
		if err == nil && string(raw) != "{}" {
			parts = append(parts, fmt.Sprintf("Default: `%s`.", strings.Trim(string(raw), `"`)))
		}
	}
	if f.Immutable {
		parts = append(parts, "Cannot be changed in place.")
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}
