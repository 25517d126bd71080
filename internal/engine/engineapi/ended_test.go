package engineapi

import (
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/openai"
)

func TestEndedConnectionsAreClosed(t *testing.T) {
	e := enginetest.Start(t, nil)
	c, err := New(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	for range 2*maxEnded + 1 {
		_, err := c.Do(t.Context(), Chat{Messages: []openai.Message{{Role: openai.User, Content: "hello"}}}, Options{}, func(Delta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.ended); n != 1 {
		t.Errorf("%d connections are open, want 1", n)
	}
	last := c.ended[0]
	c.Close()
	if _, err := last.Write([]byte("x")); err == nil || len(c.ended) != 0 {
		t.Errorf("a connection is left: %v", err)
	}
	if why := e.Aborted(); why != "" {
		t.Errorf("the engine aborted: %s", why)
	}
}
