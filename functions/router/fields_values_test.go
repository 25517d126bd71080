package router_test

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// A leaf is a field without fields of its own, or with those of Kubernetes. In its
// path, [] is the first item of a list and {} the entry "a" of a map.
type leaf struct {
	path   []string
	schema extv1.JSONSchemaProps
}

// text is the path as conditions write it.
func (l leaf) text() string {
	var out strings.Builder
	for _, part := range l.path {
		switch part {
		case "[]":
			out.WriteString("[0]")
		case "{}":
			out.WriteString(".a")
		default:
			out.WriteString("." + part)
		}
	}
	return out.String()
}

// walk returns the leaves below a field.
func walk(path []string, s extv1.JSONSchemaProps) []leaf {
	last := ""
	if len(path) > 0 {
		last = path[len(path)-1]
	}
	extend := func(part string) []string { return append(slices.Clone(path), part) }
	switch {
	case samples(s, last) != nil:
	case len(s.Properties) > 0:
		var out []leaf
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			out = append(out, walk(extend(name), s.Properties[name])...)
		}
		return out
	case s.Type == "array" && len(s.Items.Schema.Properties) > 0:
		return walk(extend("[]"), *s.Items.Schema)
	case s.AdditionalProperties != nil && len(s.AdditionalProperties.Schema.Properties) > 0:
		return walk(extend("{}"), *s.AdditionalProperties.Schema)
	}
	return []leaf{{path, s}}
}

// samples are values of fields with the types of Kubernetes, which kubelets and
// schedulers read: not each of their fields is walked.
func samples(s extv1.JSONSchemaProps, name string) []any {
	probe := []string{"{periodSeconds: 7}", "{periodSeconds: 8}"}
	var texts []string
	_, limits := s.Properties["limits"]
	_, requests := s.Properties["requests"]
	switch {
	case limits && requests:
		texts = []string{"{limits: {memory: 64Gi}}", "{limits: {memory: 96Gi, cpu: '2'}}"}
	case name == "nodeInfo":
		texts = []string{"{architecture: a}", "{architecture: b}"}
	case name == "launchOptions":
		texts = []string{"['--nthreads=3']", "['--nthreads=5']"}
	case name == "affinity":
		texts = []string{"{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}", "{podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: b}]}}"}
	case name == "tolerations":
		texts = []string{"[{key: a, operator: Exists}]", "[{key: b, operator: Exists}]"}
	case name == "topologySpreadConstraints":
		texts = []string{"[{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]", "[{maxSkew: 2, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]"}
	case name == "startupProbe" || name == "readinessProbe" || name == "livenessProbe":
		texts = probe
	case name == "podSecurityContext":
		texts = []string{"{runAsUser: 7}", "{runAsUser: 8}"}
	case name == "securityContext":
		texts = []string{"{runAsUser: 7}", "{runAsUser: 8}"}
	case name == "env" && isKubernetes(s):
		texts = []string{"[{name: A, value: b}]", "[{name: A, value: c}]"}
	case name == "volumes" && s.Type == "array":
		texts = []string{"[{name: a, emptyDir: {}}]", "[{name: b, emptyDir: {}}]"}
	case name == "volumeMounts":
		texts = []string{"[{name: a, mountPath: /a}]", "[{name: a, mountPath: /b}]"}
	case name == "metrics" && s.Type == "array":
		texts = []string{"[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]", "[{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 75}}}]"}
	case name == "behavior":
		texts = []string{"{scaleDown: {stabilizationWindowSeconds: 7}}", "{scaleDown: {stabilizationWindowSeconds: 8}}"}
	case name == "strategy":
		texts = []string{"{type: Recreate}", "{type: RollingUpdate}"}
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		texts = []string{"{hostNetwork: true, containers: [{name: c, image: i}]}", "{hostNetwork: false, containers: [{name: c, image: i}]}"}
	}
	var out []any
	for _, t := range texts {
		var v any
		if err := yaml.Unmarshal([]byte(t), &v); err != nil {
			panic(err)
		}
		out = append(out, v)
	}
	return out
}

// isKubernetes reports whether a list of variables has sources that Koldun's own type
// has not.
func isKubernetes(s extv1.JSONSchemaProps) bool {
	if s.Items == nil {
		return false
	}
	from, ok := s.Items.Schema.Properties["valueFrom"]
	_, fields := from.Properties["fieldRef"]
	return ok && fields
}

// candidates are values that a schema allows; rules may refuse some of them.
func candidates(s extv1.JSONSchemaProps, name string) []any {
	if given := samples(s, name); given != nil {
		return given
	}
	switch {
	case len(s.Enum) > 0:
		var out []any
		for _, raw := range s.Enum {
			var v any
			_ = yaml.Unmarshal(raw.Raw, &v)
			out = append(out, v)
		}
		return out
	case s.Type == "boolean":
		return []any{true, false}
	case s.XIntOrString:
		return []any{"2Gi", "3Gi", "7", "9"}
	case s.Type == "integer", s.Type == "number":
		return numbers(s)
	case s.Type == "array":
		var out []any
		for _, v := range candidates(*s.Items.Schema, name) {
			out = append(out, []any{v})
		}
		return out
	case s.Type == "object" && s.AdditionalProperties != nil:
		var out []any
		for _, v := range candidates(*s.AdditionalProperties.Schema, name) {
			out = append(out, map[string]any{"a": v})
		}
		return out
	case s.Type == "object":
		return []any{map[string]any{}}
	}
	return words(s)
}

func numbers(s extv1.JSONSchemaProps) []any {
	low, high := float64(0), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	var out []any
	for _, n := range []float64{low, low + 1, low + 2, low + 3, 8, 64} {
		if n >= low && n <= high {
			out = append(out, int64(n))
		}
	}
	return out
}

func words(s extv1.JSONSchemaProps) []any {
	if s.Pattern == `^[A-Za-z_][A-Za-z0-9_]*$` {
		return []any{"OTEL_A", "OTEL_B"} // variables that containers with logins get too
	}
	var pattern *regexp.Regexp
	if s.Pattern != "" {
		pattern = regexp.MustCompile(s.Pattern)
	}
	var out []any
	for _, word := range []string{
		"aaa", "bbb", "ns/m", "ns/n", "90s", "80s", "https://a.example", "https://b.example", "nats://a:4222", "nats://b:4222", "/a", "/b", "A", "B",
		"hf://org/one", "hf://org/two", "s3://bucket/one", "s3://bucket/two", "10.0.0.1:9999", "10.0.0.2:9999", "10.0.0.0/8", "11.0.0.0/8", "Model", "model",
		"_a", "90%", "80%", "1.2.3", "ns", "ns_m", "ns_m_0123456789abcdef0123456789abcdef01234567", "{a: b}", "{a: c}",
	} {
		if pattern != nil && !pattern.MatchString(word) || s.MaxLength != nil && int64(len(word)) > *s.MaxLength || s.MinLength != nil && int64(len(word)) < *s.MinLength {
			continue
		}
		out = append(out, word)
	}
	return out
}

// set gives a field a value. Objects around it that are missing get what their schema
// requires.
func set(in map[string]any, path []string, s extv1.JSONSchemaProps, value any) {
	s = s.Properties[path[0]]
	if len(path) == 1 {
		in[path[0]] = value
		return
	}
	in[path[0]] = within(in[path[0]], path[1:], s, value)
}

func within(v any, path []string, s extv1.JSONSchemaProps, value any) any {
	switch path[0] {
	case "[]":
		list, _ := v.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = within(list[0], path[1:], *s.Items.Schema, value)
		return list
	case "{}":
		m, _ := v.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		m["a"] = within(m["a"], path[1:], *s.AdditionalProperties.Schema, value)
		return m
	}
	m, ok := v.(map[string]any)
	if !ok {
		m = map[string]any{}
		for _, name := range s.Required {
			m[name] = whole(s.Properties[name], name)
		}
	}
	set(m, path, s, value)
	return m
}

// whole is a value with all that its schema requires.
func whole(s extv1.JSONSchemaProps, name string) any {
	if len(s.Properties) > 0 && samples(s, name) == nil {
		m := map[string]any{}
		for _, required := range s.Required {
			m[required] = whole(s.Properties[required], required)
		}
		return m
	}
	if s.Type == "array" {
		return []any{whole(*s.Items.Schema, name)}
	}
	return candidates(s, name)[0]
}
