package monitoring_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A dashboard of Grafana, as far as it names metrics.
type dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name  string `json:"name"`
			Query any    `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		Title   string `json:"title"`
		Targets []struct {
			Expr   string `json:"expr"`
			Legend string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

func dashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob("dashboards/*.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]dashboard{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = d
	}
	return out
}

var (
	// series matches a metric with its selector, if any.
	series = regexp.MustCompile(`\b((?:koldun|gen_ai_server|gen_ai_client|controller_runtime|workqueue)_[a-z0-9_]+)(?:\{([^}]*)\})?`)
	// grouping matches the labels of a sum.
	grouping = regexp.MustCompile(`by \(([^)]*)\)`)
	legend   = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
	declared = regexp.MustCompile(`"((?:koldun|gen_ai_server|gen_ai_client)_[a-z0-9_]+)"`)
	literal  = regexp.MustCompile(`"([a-z_]+)"`)
)

// target labels come from Prometheus and the PodMonitor, le from histograms.
var target = []string{"namespace", "pod", "container", "le"} //nolint:gochecknoglobals // a constant in all but syntax

func TestDashboardsNameWhatExists(t *testing.T) {
	known := labels(t)
	all := dashboards(t)
	for _, name := range []string{"serving", "queue", "pools", "models", "provider"} {
		if d, ok := all[name]; !ok || d.UID != "koldun-"+name || len(d.Panels) == 0 {
			t.Errorf("there is no dashboard %q", name)
		}
	}
	for file, d := range all {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				for _, problem := range wrong(q.Expr, q.Legend, known) {
					t.Errorf("%s, %q: %s: %s", file, p.Title, problem, q.Expr)
				}
			}
		}
		for _, v := range d.Templating.List {
			text, err := json.Marshal(v.Query)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range series.FindAllStringSubmatch(string(text), -1) {
				if known[m[1]] == nil {
					t.Errorf("%s, variable %q: nothing exports %s", file, v.Name, m[1])
				}
			}
		}
	}
}

// The check itself finds a metric and labels that do not exist.
func TestWrongQueriesAreFound(t *testing.T) {
	known := map[string][]string{"koldun_a": {"state"}}
	for expr, want := range map[string]string{
		`sum(rate(koldun_b[5m]))`:                        "nothing exports koldun_b",
		`koldun_a{mode="x"}`:                             "koldun_a has no label mode",
		`sum by (mode) (koldun_a)`:                       "no metric has the label mode",
		`sum by (state) (koldun_a{namespace="x"})`:       "",
		`rate(koldun_a_bucket{state=~"$x"}[5m]) by (le)`: "",
		`1`: "it names no metric",
	} {
		if got := strings.Join(wrong(expr, "", known), "; "); got != want {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
	if got := wrong(`sum by (state) (koldun_a)`, "{{mode}}", known); len(got) != 1 {
		t.Errorf("a legend with an absent label: %v", got)
	}
}

// wrong says what a query names that does not exist.
func wrong(expr, text string, known map[string][]string) (out []string) {
	var here []string // labels of the metrics of the query
	found := series.FindAllStringSubmatch(expr, -1)
	if len(found) == 0 {
		out = append(out, "it names no metric")
	}
	for _, m := range found {
		own, ok := known[m[1]]
		if !ok {
			own, ok = known[seriesEnd.ReplaceAllString(m[1], "")]
		}
		if !ok {
			out = append(out, "nothing exports "+m[1])
			continue
		}
		here = append(here, own...)
		for _, l := range selector.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(own, l[1]) && !slices.Contains(target, l[1]) {
				out = append(out, m[1]+" has no label "+l[1])
			}
		}
	}
	var used []string
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		used = append(used, strings.Split(m[1], ", ")...)
	}
	for _, m := range legend.FindAllStringSubmatch(text, -1) {
		if len(found) > 0 && !slices.Contains(used, m[1]) {
			out = append(out, "its legend names "+m[1]+", which is not in the result")
		}
	}
	for _, l := range used {
		if !slices.Contains(here, l) && !slices.Contains(target, l) {
			out = append(out, "no metric has the label "+l)
		}
	}
	return out
}

// labels returns the labels of each metric: of ours by their declarations, of the
// libraries of the provider by what they register.
func labels(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	code := string(sources(t))
	at := declared.FindAllStringSubmatchIndex(code, -1)
	for i, m := range at {
		name, end := code[m[2]:m[3]], min(m[1]+600, len(code))
		if i+1 < len(at) {
			end = min(end, at[i+1][0])
		}
		declaration := code[m[1]:end]
		if out[name] == nil {
			out[name] = []string{}
		}
		for _, l := range literal.FindAllStringSubmatch(declaration, -1) {
			out[name] = append(out[name], l[1])
		}
		if strings.Contains(declaration, "genAI") {
			out[name] = append(out[name], "gen_ai_operation_name", "gen_ai_response_model")
		}
	}
	described := make(chan *prometheus.Desc, 4096)
	metrics.Registry.(*prometheus.Registry).Describe(described)
	close(described)
	description := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for d := range described {
		if m := description.FindStringSubmatch(d.String()); m != nil {
			out[m[1]] = strings.Split(m[2], ",")
		}
	}
	return out
}
