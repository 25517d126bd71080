package telemetry

import (
	"errors"
	"net/http"
	"testing"

	"github.com/gorizond/koldun/internal/network/linklocal"
)

// TestNoTracesToMetadata names the address of the credentials of a machine as a collector.
func TestNoTracesToMetadata(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://169.254.169.254/v1/traces", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := exportTransport().RoundTrip(r)
	if err == nil {
		_ = response.Body.Close()
	}
	if !errors.As(err, new(linklocal.Error)) {
		t.Errorf("got %v", err)
	}
}
