package constrain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// TestCache keeps the latest grammars that fit.
func TestCache(t *testing.T) {
	c := constrain.NewCache()
	compiled := 0
	get := func(key string) *constrain.Grammar {
		g, err := c.Get(t.Context(), "", key, func(context.Context) (*constrain.Grammar, error) {
			compiled++
			return constrain.Schema(t.Context(), []byte(`{"type":"array","items":{"type":"null"},"minItems":15000}`))
		})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	first := get("0")
	fit := constrain.MaxCached / (first.Bytes() + 1)
	if fit < 4 || fit > 40 {
		t.Fatalf("%d grammars fit", fit)
	}
	for i := range fit {
		get(fmt.Sprint(i))
		get("0")
	}
	if compiled != fit || get("0") != first {
		t.Errorf("%d grammars were compiled, want %d once each", compiled, fit)
	}
	get("another")
	if get("0") != first || compiled != fit+1 {
		t.Error("the latest grammar is not kept")
	}
	if get("1"); compiled != fit+2 {
		t.Error("more grammars are kept than fit")
	}
}

// TestCacheForgetsErrors compiles again what failed.
func TestCacheForgetsErrors(t *testing.T) {
	c := constrain.NewCache()
	for range 2 {
		wrong := errors.New("wrong")
		if g, err := c.Get(t.Context(), "", "", func(context.Context) (*constrain.Grammar, error) { return nil, wrong }); g != nil || !errors.Is(err, wrong) {
			t.Errorf("%v, %v", g, err)
		}
	}
}

// TestCacheCompilesOneAtATime keeps a second request waiting, until its client goes.
func TestCacheCompilesOneAtATime(t *testing.T) {
	c := constrain.NewCache()
	object := constrain.Object()
	_, err := c.Get(t.Context(), "", "slow", func(context.Context) (*constrain.Grammar, error) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Get(ctx, "", "other", func(context.Context) (*constrain.Grammar, error) {
			t.Error("two grammars are compiled at a time")
			return object, nil
		})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "took too long") {
			t.Errorf("err = %v", err)
		}
		return object, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := c.Get(t.Context(), "", "slow", nil); g != object || err != nil {
		t.Errorf("%v, %v", g, err)
	}
}
