package engineapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// TestRefusalsWithinStreams tells the request's fault from the engine's after the answer has
// begun: no other engine gets the request then.
func TestRefusalsWithinStreams(t *testing.T) {
	const refusal = `{"error":{"message":"the schema takes too long","type":"invalid_request_error","param":"response_format"}}`
	tenants := make(chan string, 2)
	event := refusal
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tenants <- r.Header.Get(openai.HeaderTenant)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"role":"assistant"}}]}`+"\n\ndata: "+event+"\n\n")
	}))
	defer server.Close()
	c, err := engineapi.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func() error {
		chat := engineapi.Chat{Messages: []openai.Message{{Role: openai.User, Content: "hello"}}}
		_, err := c.Do(t.Context(), chat, engineapi.Options{Tenant: "a\r\nb"}, func(engineapi.Delta) error { return nil })
		return err
	}
	var e *openai.Error
	if err := ask(); !errors.As(err, &e) || e.Status != 400 || e.Param != "response_format" || !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
	if tenant := <-tenants; len(tenant) != 16 || strings.Contains(tenant, "a") && strings.Contains(tenant, "b\n") {
		t.Errorf("the tenant is %q, want a name that stands for it", tenant)
	}
	event = strings.Replace(refusal, "invalid_request_error", "server_error", 1)
	if err := ask(); !fault.Is(err, fault.Transient) {
		t.Errorf("err = %v", err)
	}
}
