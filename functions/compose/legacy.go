package compose

import (
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
)

// Legacy sets the condition LegacyFields: it lists the fields that are given and
// have no effect. given maps the paths of fields to whether they are given.
func (c *Call) Legacy(given map[string]bool) {
	var fields []string
	for field, is := range given {
		if is {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	if len(fields) > 0 {
		c.True(v1.ConditionLegacyFields, reason.FieldsIgnored, "These fields are accepted and have no effect: %s", strings.Join(fields, ", "))
		return
	}
	before := conditionOf(c.state.GetComposite().GetResource(), v1.ConditionLegacyFields)
	if before.Type != "" {
		c.False(v1.ConditionLegacyFields, reason.FieldsUsed, "Every field that is given has an effect")
	}
}
