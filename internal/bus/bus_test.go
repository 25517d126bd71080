package bus_test

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/internal/waittest"
)

func testContext(tb testing.TB) context.Context {
	tb.Helper()
	return waittest.Context(tb)
}
