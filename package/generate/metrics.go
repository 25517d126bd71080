package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const metricsFile = "docs/reference/metrics.md"

// An exporter is a program that exports metrics, with the folder that declares them.
type exporter struct{ program, folder string }

func exporters() []exporter {
	return []exporter{
		{"Gateway", "internal/serving/gateway"},
		{"Dispatcher", "internal/serving/dispatch"},
		{"Sidecar", "internal/serving/sidecar"},
		{"Embedded engine", "internal/engine/llama"},
		{"Supervisor of distributed-llama", "internal/engine/supervise"},
		{"Connections to NATS, of gateways, dispatchers and sidecars", "internal/nats"},
	}
}

// metricName matches the names of our metrics and the names of OpenTelemetry's conventions. Names
// of buckets of NATS, which begin like ours, have no help beside them.
var metricName = regexp.MustCompile(`^(koldun|gen_ai)_[a-z0-9_]+$`)

// A metric is a metric as the code declares it.
type metric struct {
	name, help string
	labels     []string
}

// metricDocs returns metricsFile with the tables of the metrics that the code declares.
func metricDocs(root string) ([]byte, error) {
	byFolder := map[string][]metric{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("cannot read metrics: %w", err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, m := range declared(file) {
			i := slices.IndexFunc(exporters(), func(e exporter) bool { return strings.HasPrefix(filepath.ToSlash(name), e.folder+"/") })
			if i < 0 {
				return fmt.Errorf("cannot list metric %q: no exporter has the folder of %s", m.name, name)
			}
			byFolder[exporters()[i].folder] = append(byFolder[exporters()[i].folder], m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for i, e := range exporters() {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "### %s\n\n| metric | labels | meaning |\n| --- | --- | --- |\n", e.program)
		for _, m := range byFolder[e.folder] {
			labels := ""
			if len(m.labels) > 0 {
				labels = "`" + strings.Join(m.labels, "`, `") + "`"
			}
			fmt.Fprintf(&out, "| `%s` | %s | %s |\n", m.name, labels, m.help)
		}
	}
	return replaced(root, metricsFile, "the metrics that internal declares", out.Bytes())
}

// declared returns the metrics that a file declares: calls with a name and a help as their
// first arguments, or with options that have them. Further texts are labels.
func declared(file *ast.File) []metric {
	lists := map[string][]string{} // variables with lists of texts
	var out []metric
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, e := range n.Rhs {
				if id, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); ok {
					if list, ok := e.(*ast.CompositeLit); ok {
						lists[id.Name] = texts(list.Elts, nil)
					}
				}
			}
		case *ast.CallExpr:
			if name, help, rest := described(n.Args); metricName.MatchString(name) && help != "" {
				out = append(out, metric{name, help, texts(rest, lists)})
			}
		}
		return true
	})
	return out
}

// described returns the name and the help of a metric among the arguments of a call, and the
// arguments after them.
func described(args []ast.Expr) (name, help string, rest []ast.Expr) {
	if len(args) == 0 {
		return "", "", nil
	}
	if options, ok := args[0].(*ast.CompositeLit); ok {
		for _, e := range options.Elts {
			field, ok := e.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch key, _ := field.Key.(*ast.Ident); {
			case key == nil:
			case key.Name == "Name":
				name = text(field.Value)
			case key.Name == "Help":
				help = text(field.Value)
			}
		}
		return name, help, args[1:]
	}
	if len(args) == 1 {
		return "", "", nil
	}
	return text(args[0]), text(args[1]), args[2:]
}

// texts returns the texts in expressions, and in the lists that they name.
func texts(in []ast.Expr, lists map[string][]string) []string {
	var out []string
	for _, e := range in {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s := text(n); s != "" {
					out = append(out, s)
				}
			case *ast.Ident:
				out = append(out, lists[n.Name]...)
			}
			return true
		})
	}
	return out
}

// text returns the value of a literal, or nothing if the expression is none.
func text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return s
}
