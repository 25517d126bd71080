package s3_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// TestAddressing holds how requests name the bucket.
func TestAddressing(t *testing.T) {
	var mu sync.Mutex
	var host, path string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		host, path = r.Host, r.URL.Path
		w.WriteHeader(http.StatusNotFound)
	}))
	defer proxy.Close()
	for addressing, want := range map[string]string{"": "/bkt/m/f", s3.AddressPath: "/bkt/m/f"} {
		s, err := s3.Open(t.Context(), "bkt", "m", s3.Config{Endpoint: proxy.URL, Addressing: addressing, AccessKey: "a", SecretKey: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Stat(t.Context(), "f"); !fault.Is(err, fault.NotFound) || path != want {
			t.Errorf("%q: asks for %s at %s: %v", addressing, path, host, err)
		}
	}
	local := strings.Replace(proxy.URL, "127.0.0.1", "localhost", 1)
	s, err := s3.Open(t.Context(), "bkt", "m", s3.Config{Endpoint: local, Addressing: s3.AddressVirtual, AccessKey: "a", SecretKey: "b"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Stat(t.Context(), "f")
	u, _ := url.Parse(local)
	if fault.Is(err, fault.NotFound) && (path != "/m/f" || host != "bkt."+u.Host) {
		t.Errorf("virtual: asks for %s at %s", path, host)
	} else if err == nil || !fault.Is(err, fault.NotFound) && !strings.Contains(err.Error(), "bkt.localhost") {
		t.Errorf("virtual: %v", err) // a resolver without *.localhost names the host
	}
	if _, err := s3.Open(t.Context(), "bkt", "m", s3.Config{Endpoint: proxy.URL, Addressing: "host"}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "KOLDUN_S3_ADDRESSING") {
		t.Errorf("an unknown way: %v", err)
	}
}

// TestAdvice holds that errors of services which lack something name the setting that helps.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct{ code, message, want string }{
		"Checksum":  {"InvalidArgument", "Unsupported header x-amz-checksum-crc32", "checksums: whenRequired"},
		"Trailer":   {"NotImplemented", "A header you provided implies functionality that is not implemented", "AWS_REQUEST_CHECKSUM_CALCULATION=when_required"},
		"Virtual":   {"SecondLevelDomainForbidden", "Please use virtual hosted style to access.", "addressing: virtual"},
		"Mismatch":  {"XAmzContentChecksumMismatch", "The checksum does not match", ""},
		"Forbidden": {"AccessDenied", "Access Denied", ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte("<Error><Code>" + c.code + "</Code><Message>" + c.message + "</Message></Error>"))
			}))
			defer srv.Close()
			s, err := s3.Open(t.Context(), "bkt", "", s3.Config{Endpoint: srv.URL, AccessKey: "a", SecretKey: "b"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Upload(t.Context(), "f", objectstore.UploadOptions{Size: 6 << 20, PartSize: 5 << 20, Token: "t"})
			if err == nil {
				t.Fatal("it succeeds")
			}
			if advised := strings.Contains(err.Error(), "; if it"); advised != (c.want != "") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q in it", err, c.want)
			}
		})
	}
}
