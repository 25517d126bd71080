package engineapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

func TestLoad(t *testing.T) {
	names := engine.LoadMetrics{Running: "s:running", Waiting: "s:waiting"}
	for name, c := range map[string]struct {
		text string
		want engineapi.Load
		says string // of the error, which is Unsupported
	}{
		"Gauges":     {"# HELP s:running Running.\n# TYPE s:running gauge\ns:running 3\n# TYPE s:waiting gauge\ns:waiting 2\n", engineapi.Load{Running: 3, Waiting: 2}, ""},
		"Untyped":    {"s:running 3\ns:waiting 0\n", engineapi.Load{Running: 3}, ""},
		"Processes":  {"s:running{engine=\"0\"} 3.0\ns:running{engine=\"1\"} 4.0\ns:waiting{engine=\"0\"} 1.0\n", engineapi.Load{Running: 7, Waiting: 1}, ""},
		"Others":     {"# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\ns:running 1e+00\ns:waiting 0\n", engineapi.Load{Running: 1}, ""},
		"NotANumber": {"s:running NaN\ns:waiting -1\n", engineapi.Load{}, ""},
		"Huge":       {"s:running +Inf\ns:waiting 1e300\n", engineapi.Load{}, ""},
		"Missing":    {"s:running 3\n", engineapi.Load{}, `there is no metric "s:waiting"`},
		"NoText":     {"<html></html>\n", engineapi.Load{}, "cannot read the metrics"},
		"None":       {"", engineapi.Load{}, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			double := enginetest.StartServer(t, nil)
			double.SetMetrics(c.text)
			server, err := engineapi.NewServer(engineapi.ServerConfig{URL: double.URL, Model: "served", Load: names})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Close)
			got, err := server.Load(waittest.Context(t))
			if c.says != "" {
				if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Load: %v, want it to say %q", err, c.says)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("Load = %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// An answer that breaks off says nothing of what the server offers.
func TestLoadBreaksOff(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("r 1\n"))
	}))
	t.Cleanup(h.Close)
	server, err := engineapi.NewServer(engineapi.ServerConfig{URL: h.URL + "/v1", Model: "served", Load: engine.LoadMetrics{Running: "r", Waiting: "w"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if _, err := server.Load(waittest.Context(t)); !fault.Is(err, fault.Transient) {
		t.Errorf("Load: %v, want a transient error", err)
	}
}

// A server that has no time to say its load may say it later.
func TestLoadOfABusyServer(t *testing.T) {
	for status, want := range map[int]fault.Kind{
		http.StatusTooManyRequests: fault.Transient, http.StatusServiceUnavailable: fault.Transient,
		http.StatusNotImplemented: fault.Unsupported, http.StatusForbidden: fault.Unsupported,
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		server, err := engineapi.NewServer(engineapi.ServerConfig{URL: h.URL + "/v1", Model: "served", Load: engine.LoadMetrics{Running: "r", Waiting: "w"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.Load(waittest.Context(t)); !fault.Is(err, want) {
			t.Errorf("status %d: %v, want the kind %v", status, err, want)
		}
		server.Close()
		h.Close()
	}
}
