package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/platform"
)

// TestChartKnowsAllRules tests that the schema of the chart's values has the fields of the
// rules of a platform, and no others.
func TestChartKnowsAllRules(t *testing.T) {
	values, err := valuesSchema(root)
	if err != nil {
		t.Fatal(err)
	}
	properties, _ := at(values, "properties", "platform", "properties", "claims", "items", "properties").(object)
	known := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[platform.Rule]()) {
		if field.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = true
		if _, ok := properties[name]; !ok {
			t.Errorf("package/chart/values.schema.json has no platform.claims[].%s", name)
		}
	}
	for name := range properties {
		if !known[name] {
			t.Errorf("package/chart/values.schema.json has platform.claims[].%s, which rules do not have", name)
		}
	}
}
