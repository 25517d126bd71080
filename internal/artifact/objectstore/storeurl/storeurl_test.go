package storeurl_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storeurl"
	"github.com/gorizond/koldun/internal/fault"
)

func TestOpen(t *testing.T) {
	cfg := s3.Config{AccessKey: "a", SecretKey: "b"}
	for url, want := range map[string]string{
		"s3://bucket":        "s3://bucket",
		"s3://bucket/a/b/":   "s3://bucket/a/b",
		"file:///tmp/x":      "file:///tmp/x",
		"/tmp/x":             "file:///tmp/x",
		"hf://org/repo":      "",
		"s3://bucket/a/../b": "",
		"ftp://x":            "",
		"":                   "",
	} {
		s, err := storeurl.Open(t.Context(), url, cfg)
		if want == "" {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("Open(%q) = %v, want Invalid", url, err)
			}
			continue
		}
		if err != nil || s.URL() != want {
			t.Errorf("Open(%q) = %v, %v", url, s, err)
		}
	}
	if _, err := storeurl.Open(t.Context(), "s3://bucket", s3.Config{AccessKey: "a"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("half of the credentials: %v", err)
	}
}
