package bus_test

import (
	"context"
	"testing"

	"github.com/gorizond/koldun/test/waittest"
)

func testContext(tb testing.TB) context.Context {
	tb.Helper()
	return waittest.Context(tb)
}
