// Package monitoring_test compares the manifests for the Prometheus operator
// with the metrics of the processes and the pods that the functions compose.
package monitoring_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(raw, into); err != nil {
		t.Fatal(err)
	}
}

// object has the fields that all objects of the operator share.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
}

type podMonitor struct {
	object `json:",inline"`
	Spec   struct {
		NamespaceSelector struct {
			Any bool `json:"any"`
		} `json:"namespaceSelector"`
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		PodTargetLabels     []string `json:"podTargetLabels"`
		PodMetricsEndpoints []struct {
			Port     string `json:"port"`
			Interval string `json:"interval"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// ports returns the ports that a PodMonitor of all namespaces scrapes.
func (m podMonitor) ports(t *testing.T) (ports []string) {
	t.Helper()
	if m.APIVersion != "monitoring.coreos.com/v1" || m.Kind != "PodMonitor" || !m.Spec.NamespaceSelector.Any {
		t.Errorf("got %s %s", m.APIVersion, m.Kind)
	}
	for _, e := range m.Spec.PodMetricsEndpoints {
		ports = append(ports, e.Port)
	}
	return ports
}

// TestPodMonitorOfProvider compares it with the Provider of install.yaml, and with the label
// and the name of the port that Crossplane gives to pods of a Provider.
func TestPodMonitorOfProvider(t *testing.T) {
	var m podMonitor
	read(t, "podmonitor-provider.yaml", &m)
	if ports := m.ports(t); !slices.Equal(ports, []string{"metrics"}) {
		t.Errorf("it scrapes ports %v", ports)
	}
	name := m.Spec.Selector.MatchLabels["pkg.crossplane.io/provider"]
	install, err := os.ReadFile("../install.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if name == "" || !bytes.Contains(install, []byte("kind: Provider\nmetadata:\n  name: "+name+"\n")) {
		t.Errorf("it selects pods of the Provider %q, which install.yaml does not install", name)
	}
}

func TestPodMonitor(t *testing.T) {
	var m podMonitor
	read(t, "podmonitor.yaml", &m)
	labels := workload.Labels("dllama", "a", "root")
	for name, value := range m.Spec.Selector.MatchLabels {
		if labels[name] != value {
			t.Errorf("pods have %s=%q, it selects %q", name, labels[name], value)
		}
	}
	for _, name := range m.Spec.PodTargetLabels {
		if labels[name] == "" {
			t.Errorf("pods have no label %s", name)
		}
	}
	ports := m.ports(t)
	if want := []string{queue.PortHealth, engine.PortSidecar, engine.PortHealth}; !slices.Equal(ports, want) {
		t.Errorf("it scrapes ports %v, pods have %v", ports, want)
	}
}

// A rule of a PrometheusRule.
type rule struct {
	Record      string            `json:"record"`
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func rules(t *testing.T) []rule {
	t.Helper()
	var m struct {
		object `json:",inline"`
		Spec   struct {
			Groups []struct {
				Name  string `json:"name"`
				Rules []rule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	read(t, "rules.yaml", &m)
	if m.APIVersion != "monitoring.coreos.com/v1" || m.Kind != "PrometheusRule" {
		t.Errorf("got %s %s", m.APIVersion, m.Kind)
	}
	var all []rule
	for _, g := range m.Spec.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

var (
	// metrics matches the names of metrics in an expression; series of histograms have a suffix.
	metricName = regexp.MustCompile(`\b(?:koldun|gen_ai)[_:][a-z0-9_:]+`)
	seriesEnd  = regexp.MustCompile(`_(bucket|count|sum)$`)
	// selector matches the labels that an expression selects.
	selector = regexp.MustCompile(`([a-z_]+)(?:=~|!=|!~|=)"`)
	duration = regexp.MustCompile(`^[0-9]+[smh]$`)
)

func TestRulesNameWhatExists(t *testing.T) {
	code := sources(t)
	recorded := map[string]bool{}
	for _, r := range rules(t) {
		recorded[r.Record] = true
	}
	for _, r := range rules(t) {
		names := metricName.FindAllString(r.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s%s names no metric of ours: %s", r.Record, r.Alert, r.Expr)
		}
		for _, name := range names {
			plain := seriesEnd.ReplaceAllString(name, "")
			if !recorded[name] && !bytes.Contains(code, []byte(`"`+plain+`"`)) {
				t.Errorf("%s%s: nothing exports %s", r.Record, r.Alert, name)
			}
		}
		for _, m := range selector.FindAllStringSubmatch(r.Expr, -1) {
			if label := m[1]; label != "container" && !bytes.Contains(code, []byte(`[]string{"`+label)) {
				t.Errorf("%s%s: no metric has label %s", r.Record, r.Alert, label)
			}
		}
		for _, pair := range []string{"()", "[]", "{}"} {
			if strings.Count(r.Expr, pair[:1]) != strings.Count(r.Expr, pair[1:]) {
				t.Errorf("%s%s: %s are not balanced in %s", r.Record, r.Alert, pair, r.Expr)
			}
		}
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	alerts := 0
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		alerts++
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || r.Labels["severity"] == "" {
			t.Errorf("%s lacks texts: %+v", r.Alert, r)
		}
		if r.For != "" && !duration.MatchString(r.For) {
			t.Errorf("%s lasts for %q", r.Alert, r.For)
		}
	}
	if alerts < 5 {
		t.Errorf("got only %d alerts", alerts)
	}
}

// A process that has exited exports nothing, which is not 0: only the metrics of
// the process itself show that it is idle.
func TestAlertsHearOfWhoIsGone(t *testing.T) {
	process := regexp.MustCompile(`^koldun_[a-z]+_`)
	for _, r := range rules(t) {
		if !strings.Contains(r.Expr, "== 0") {
			continue
		}
		names := metricName.FindAllString(r.Expr, -1)
		for _, name := range names {
			if process.FindString(name) != process.FindString(names[0]) {
				t.Errorf("%s compares %s with 0 next to %s; write unless ... > 0", r.Alert, names[0], name)
			}
		}
	}
}

// sources returns the code of all packages that export metrics, without tests.
func sources(t *testing.T) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}
