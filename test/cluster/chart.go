package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// chartTemplates are the templates of Crossplane's Helm chart that a cluster needs:
// service accounts and their rights. Processes replace the Deployments, and a Service
// that points to loopback replaces theirs.
var chartTemplates = []string{ //nolint:gochecknoglobals // a constant in all but syntax
	"serviceaccount.yaml",
	"clusterrole.yaml",
	"clusterrolebinding.yaml",
	"rbac-manager-serviceaccount.yaml",
	"rbac-manager-clusterrole.yaml",
	"rbac-manager-clusterrolebinding.yaml",
	"rbac-manager-allowed-provider-permissions.yaml",
	"rbac-manager-managed-clusterroles.yaml",
	"secret.yaml",
}

// renderChart renders chartTemplates with the chart's default values, as Helm does for
// a release in namespace.
func renderChart(dir, namespace string) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		return nil, fmt.Errorf("cannot read values of chart: %w", err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(raw, &values); err != nil {
		return nil, fmt.Errorf("cannot parse values of chart: %w", err)
	}
	root := template.New("chart")
	root.Funcs(chartFuncs(root))
	files := []string{filepath.Join(dir, "templates", "_helpers.tpl")}
	for _, name := range chartTemplates {
		files = append(files, filepath.Join(dir, "templates", name))
	}
	if _, err := root.ParseFiles(files...); err != nil {
		return nil, fmt.Errorf("cannot parse chart: %w", err)
	}
	data := map[string]any{
		"Values":  values,
		"Chart":   map[string]any{"Name": "crossplane", "Version": "test", "AppVersion": "test"},
		"Release": map[string]any{"Name": "crossplane", "Namespace": namespace, "Service": "Helm"},
	}
	var out []string
	for _, name := range chartTemplates {
		var b bytes.Buffer
		if err := root.ExecuteTemplate(&b, name, data); err != nil {
			return nil, fmt.Errorf("cannot render chart: %w", err)
		}
		out = append(out, b.String())
	}
	return out, nil
}

// chartFuncs returns the template functions of Helm that these templates use.
func chartFuncs(root *template.Template) template.FuncMap {
	indent := func(n int, s string) string {
		pad := strings.Repeat(" ", n)
		return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
	}
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := root.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"default": func(otherwise, v any) any {
			if v == nil || v == "" {
				return otherwise
			}
			return v
		},
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"replace":    func(from, to, s string) string { return strings.ReplaceAll(s, from, to) },
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"indent":     indent,
		"nindent":    func(n int, s string) string { return "\n" + indent(n, s) },
		"toYaml": func(v any) (string, error) {
			raw, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(raw), "\n"), err
		},
	}
}
