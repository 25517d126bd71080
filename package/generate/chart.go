package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const chartFolder = "package/chart"

// chart returns the files of the Helm chart that follow from others: the schema of its
// values, whose connection is the spec of a ClusterProviderConfig, and the table of the
// values in its README.
func chart(root string) (map[string][]byte, error) {
	values, err := valuesSchema(root)
	if err != nil {
		return nil, fmt.Errorf("cannot write schema of the chart's values: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(values); err != nil {
		return nil, err
	}
	readme, err := chartReadme(root, values)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{chartFolder + "/values.schema.json": out.Bytes(), chartFolder + "/README.md": readme}, nil
}

// valuesSchema returns the schema of the chart's values with the current connection.
func valuesSchema(root string) (object, error) {
	raw, err := os.ReadFile(filepath.Join(root, chartFolder, "values.schema.json"))
	if err != nil {
		return nil, err
	}
	var values, crd object
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	if raw, err = os.ReadFile(filepath.Join(root, "apis", "crds", managedGroup+"_clusterproviderconfigs.yaml")); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return nil, err
	}
	spec, ok := at(crd, "spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec").(object)
	properties, ok2 := at(values, "properties").(object)
	if !ok || !ok2 {
		return nil, fmt.Errorf("the CRD of ClusterProviderConfigs has no spec, or the values have no properties")
	}
	connection := strict(spec).(object)
	connection["description"] = "Spec of the ClusterProviderConfig default: the servers of all claims that do not name their own. Without values there is none."
	for _, path := range [][]any{{"nats"}, {"nats", "properties", "operator"}, {"s3"}, {"hub"}} {
		ref, ok := at(connection, append(append([]any{"properties"}, path...), "properties", "secretRef", "properties", "namespace")...).(object)
		if !ok {
			return nil, fmt.Errorf("the connection has no secretRef in %v", path)
		}
		ref["description"] = "Namespace of the Secret. Defaults to that of the release."
	}
	properties["connection"] = connection
	return values, nil
}

// strict returns a schema of Kubernetes as one of JSON that refuses unknown fields.
func strict(schema any) any {
	switch s := schema.(type) {
	case []any:
		out := make([]any, len(s))
		for i := range s {
			out[i] = strict(s[i])
		}
		return out
	case object:
		out := object{}
		for key, value := range s {
			if !strings.HasPrefix(key, "x-kubernetes-") {
				out[key] = strict(value)
			}
		}
		if s["x-kubernetes-int-or-string"] == true {
			delete(out, "anyOf")
			out["type"] = []any{"integer", "string"}
		}
		if _, ok := s["properties"].(object); ok && s["type"] == "object" {
			out["additionalProperties"] = false
		}
		return out
	}
	return schema
}

// at returns what is at a path of names and indexes, or nil.
func at(v any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, _ := v.(object)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

// The lines of the README around the table of values.
const (
	valuesBegin = "<!-- Values, by make generate. -->\n"
	valuesEnd   = "<!-- End of the values. -->\n"
)

// chartReadme returns the README with the current table.
func chartReadme(root string, values object) ([]byte, error) {
	file := filepath.Join(root, chartFolder, "README.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	before, rest, ok := strings.Cut(string(raw), valuesBegin)
	_, after, ok2 := strings.Cut(rest, valuesEnd)
	if !ok || !ok2 {
		return nil, fmt.Errorf("cannot write values into %q: it has no lines %q and %q", file, valuesBegin, valuesEnd)
	}
	if raw, err = os.ReadFile(filepath.Join(root, chartFolder, "values.yaml")); err != nil {
		return nil, err
	}
	var defaults any
	if err := yaml.Unmarshal(raw, &defaults); err != nil {
		return nil, err
	}
	table := "| value | default | meaning |\n| --- | --- | --- |\n"
	definitions, _ := values["definitions"].(object)
	for _, row := range valueRows("", values, defaults, definitions) {
		table += row
	}
	return []byte(before + valuesBegin + "\n" + table + "\n" + valuesEnd + after), nil
}

// valueRows returns the rows of a value and of those in it, sorted.
func valueRows(path string, schema object, value any, definitions object) []string {
	description, _ := schema["description"].(string)
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = definitions[strings.TrimPrefix(ref, "#/definitions/")].(object)
	}
	properties, nested := schema["properties"].(object)
	var rows []string
	if description == "" {
		description, _ = schema["description"].(string)
	}
	if path != "" && description != "" {
		byDefault := ""
		if _, fields := value.(object); !nested || !fields {
			if raw, err := json.Marshal(value); err == nil && value != nil && string(raw) != `""` {
				byDefault = "`" + string(raw) + "`"
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", path, byDefault, strings.ReplaceAll(strings.Join(strings.Fields(description), " "), "|", `\|`)))
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, ok := properties[name].(object)
		if !ok {
			continue
		}
		rows = append(rows, valueRows(strings.TrimPrefix(path+"."+name, "."), field, at(value, name), definitions)...)
	}
	return rows
}
