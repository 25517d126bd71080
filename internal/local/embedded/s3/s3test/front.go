package s3test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// A Handler answers a request, or reports false to pass it on.
type Handler func(w http.ResponseWriter, r *http.Request) bool

// Front runs a proxy for a gateway until the test ends. A handler answers the
// requests that the gateway does not support. Front returns the configuration
// for clients.
func Front(t testing.TB, to s3.Config, h Handler) s3.Config {
	t.Helper()
	target, err := url.Parse(to.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // the signature covers it
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	to.Endpoint = srv.URL
	return to
}

// Refuse answers NotImplemented to requests with a query, such as "lifecycle".
func Refuse(query string) Handler {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !r.URL.Query().Has(query) {
			return false
		}
		fail(w, http.StatusNotImplemented, "NotImplemented")
		return true
	}
}

// fail answers as S3 does (docs.aws.amazon.com, "Error responses").
func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>%s</Message></Error>", xml.Header, code, http.StatusText(status))
}
