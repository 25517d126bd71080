package telemetry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// Where spans go, as OpenTelemetry names it; the exporter reads these and the
// other OTEL_EXPORTER_OTLP_* variables itself.
const (
	EnvOTLPEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	EnvOTLPTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// flushTimeout limits how long a process waits for its last spans at its end.
const flushTimeout = 3 * time.Second

// exportTimeout limits one export, as OpenTelemetry does by default.
const exportTimeout = 10 * time.Second

// scope is the instrumentation scope of the spans.
const scope = "github.com/gorizond/koldun"

// NewTracer returns the tracer of a process. Without EnvOTLPEndpoint or
// EnvOTLPTracesEndpoint it drops spans at almost no cost. With one of them, a
// goroutine sends spans there over HTTP in batches until stop, which flushes for
// at most 3 s and may be called once. An unreachable endpoint loses spans, but
// never delays requests. Errors: Invalid (the variables).
func NewTracer(ctx context.Context, service, version string) (t trace.Tracer, stop func(), err error) {
	if os.Getenv(EnvOTLPEndpoint) == "" && os.Getenv(EnvOTLPTracesEndpoint) == "" {
		return NoTracer(), func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx, guarded()...)
	if err != nil {
		return nil, nil, fault.Errorf(fault.Invalid, "cannot export traces as %s says: %w", EnvOTLPEndpoint, err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithFromEnv()) // which may name it otherwise
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, nil, fault.Errorf(fault.Invalid, "cannot describe the process to OpenTelemetry: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	stop = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		_ = provider.Shutdown(ctx) // an unreachable endpoint loses spans
	}
	return provider.Tracer(scope, trace.WithInstrumentationVersion(version)), stop, nil
}

// guarded keeps the exporter from addresses at which clouds serve credentials. With
// certificates of its own it stays as it is: no such service speaks TLS.
func guarded() []otlptracehttp.Option {
	for _, kind := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
		if os.Getenv("OTEL_EXPORTER_OTLP_"+kind) != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+kind) != "" {
			return nil
		}
	}
	limit := exportTimeout
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"} {
		if ms, err := strconv.Atoi(os.Getenv(name)); err == nil && ms > 0 {
			limit = time.Duration(ms) * time.Millisecond
		}
	}
	return []otlptracehttp.Option{otlptracehttp.WithHTTPClient(&http.Client{Transport: exportTransport(), Timeout: limit})}
}

func exportTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: exportTimeout, Control: linklocal.Refuse}).DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: exportTimeout,
		IdleConnTimeout:     time.Minute,
	}
}

// NoTracer returns a tracer that drops spans. It still propagates traces.
func NoTracer() trace.Tracer { return noop.NewTracerProvider().Tracer(scope) }

// Continue returns a context that continues the trace of a traceparent (W3C
// Trace Context), or ctx if that is empty or malformed.
func Continue(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Traceparent returns the traceparent that continues the trace of ctx, or "".
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
