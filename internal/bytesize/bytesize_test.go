package bytesize_test

import (
	"math"
	"testing"

	"github.com/gorizond/koldun/internal/bytesize"
)

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1000 << 10: "1000.0 KiB", 1 << 20: "1.0 MiB", 3 << 29: "1.5 GiB",
		100 << 30: "100.0 GiB", 1 << 40: "1.0 TiB", 1 << 50: "1.0 PiB", math.MaxInt64: "8.0 EiB",
	} {
		if got := bytesize.Format(n); got != want {
			t.Errorf("Format(%d) = %q, want %q", n, got, want)
		}
	}
}
