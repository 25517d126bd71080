package gateway

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/waittest"
)

func TestBackground(t *testing.T) {
	e := newBackground()
	ran, ended := make(chan bool), make(chan error, 2)
	if !e.run(time.Hour, func(context.Context) { close(ran) }) {
		t.Error("refused")
	}
	waittest.Receive(t, "the function runs", ran)
	e.run(time.Millisecond, func(ctx context.Context) { <-ctx.Done(); ended <- context.Cause(ctx) })
	if err := waittest.Receive(t, "the function ends", ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	e.run(time.Hour, func(ctx context.Context) { <-ctx.Done(); ended <- context.Cause(ctx) })
	waittest.Returns(t, "all functions end", func() { e.close(time.Millisecond) })
	if err := waittest.Receive(t, "the function ends", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if e.run(time.Hour, func(context.Context) {}) {
		t.Error("a function starts after the close")
	}
}

func TestBackgroundIsBounded(t *testing.T) {
	e := newBackground()
	for range maxBackground {
		if !e.run(time.Hour, func(ctx context.Context) { <-ctx.Done() }) {
			t.Fatal("refused too early")
		}
	}
	if e.run(time.Hour, func(context.Context) {}) {
		t.Error("the number of functions is not limited")
	}
	waittest.Returns(t, "all functions end", func() { e.close(0) })
}
