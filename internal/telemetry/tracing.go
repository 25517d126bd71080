package telemetry

import (
	"context"
	"errors"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gorizond/koldun/internal/fault"
)

// Where spans go, as OpenTelemetry names it; the exporter reads these and the
// other OTEL_EXPORTER_OTLP_* variables itself.
const (
	EnvOTLPEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	EnvOTLPTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// flushTimeout bounds how long the end of a process waits for its last spans.
const flushTimeout = 3 * time.Second

// scope names who makes the spans.
const scope = "github.com/gorizond/koldun"

// NewTracer makes the tracer of a process. Without EnvOTLPEndpoint or
// EnvOTLPTracesEndpoint its spans go nowhere and cost next to nothing; with one
// of them they are sent there over HTTP, in batches, by a goroutine that ends
// with stop. stop flushes for at most 3 s; it may be called once. An endpoint
// that cannot be reached later loses spans, never requests. Errors: Invalid
// (the variables).
func NewTracer(ctx context.Context, service, version string) (t trace.Tracer, stop func(), err error) {
	if os.Getenv(EnvOTLPEndpoint) == "" && os.Getenv(EnvOTLPTracesEndpoint) == "" {
		return NoTracer(), func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
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
		_ = provider.Shutdown(ctx) // spans that nobody takes are lost, as documented
	}
	return provider.Tracer(scope, trace.WithInstrumentationVersion(version)), stop, nil
}

// NoTracer is a tracer whose spans go nowhere. A trace that somebody else began
// still passes through it.
func NoTracer() trace.Tracer { return noop.NewTracerProvider().Tracer(scope) }

// Continue returns a context that goes on with the trace of a traceparent (W3C
// Trace Context), or ctx if that is empty or malformed.
func Continue(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Traceparent is the traceparent with which others go on with the trace of
// ctx, "" if it has none.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}
