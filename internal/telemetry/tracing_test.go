package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/trace"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gorizond/koldun/internal/telemetry"
	"github.com/gorizond/koldun/test/waittest"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTracePassesThrough(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"Valid":     {parent, parent},
		"Empty":     {"", ""},
		"Malformed": {"00-zz-00f067aa0ba902b7-01", ""},
		"TwoLines":  {parent + "\r\nX: y", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, span := telemetry.NoTracer().Start(telemetry.Continue(t.Context(), c.in), "x")
			defer span.End()
			if got := telemetry.Traceparent(ctx); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Without an endpoint there is no exporter, and spans do not record.
func TestNoEndpointNoExporter(t *testing.T) {
	t.Setenv(telemetry.EnvOTLPEndpoint, "")
	t.Setenv(telemetry.EnvOTLPTracesEndpoint, "")
	tracer, stop, err := telemetry.NewTracer(t.Context(), "koldun", "test")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, span := tracer.Start(t.Context(), "x"); span.IsRecording() {
		t.Error("a span records without an exporter")
	}
}

func TestExports(t *testing.T) {
	got := make(chan *coltrace.ExportTraceServiceRequest, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		req := &coltrace.ExportTraceServiceRequest{}
		if err != nil || proto.Unmarshal(body, req) != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		got <- req
	}))
	defer srv.Close()
	t.Setenv(telemetry.EnvOTLPEndpoint, srv.URL)
	tracer, stop, err := telemetry.NewTracer(t.Context(), "koldun llm", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracer.Start(telemetry.Continue(t.Context(), parent), telemetry.ChatSpan("ns/m"), trace.WithSpanKind(trace.SpanKindClient))
	telemetry.Fail(span, "engine_failed", "it broke")
	span.End()
	stop()
	resource := waittest.Receive(t, "the spans", got).GetResourceSpans()[0]
	sent := resource.GetScopeSpans()[0].GetSpans()[0]
	if sent.GetName() != "chat ns/m" || sent.GetStatus().GetMessage() != "it broke" || sent.GetAttributes()[0].GetKey() != "error.type" {
		t.Errorf("span is %v", sent)
	}
	if len(sent.GetParentSpanId()) == 0 || sent.GetTraceId()[0] != 0x4b {
		t.Errorf("the span has trace %x and parent %x", sent.GetTraceId(), sent.GetParentSpanId())
	}
	name := ""
	for _, a := range resource.GetResource().GetAttributes() {
		if a.GetKey() == "service.name" {
			name = a.GetValue().GetStringValue()
		}
	}
	if name != "koldun llm" {
		t.Errorf("service.name is %q", name)
	}
}
