package fetch_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/test/waittest"
)

// brokenS3 puts a proxy in front of the bucket that may answer in its place.
func brokenS3(t *testing.T, b *s3test.Bucket, breaks func(w http.ResponseWriter, r *http.Request) bool) objectstore.Store {
	t.Helper()
	to, err := url.Parse(b.Config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }, // the signature covers the host
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !breaks(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	cfg := b.Config
	cfg.Endpoint = srv.URL
	store, err := s3.Open(t.Context(), b.Name, "m", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func s3Answer(w http.ResponseWriter, status int, code string) bool {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`<?xml version="1.0"?><Error><Code>` + code + `</Code><Message>an injected fault</Message></Error>`))
	return true
}

func isPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

// The fetch succeeds in spite of temporary faults of the bucket.
func TestOvercomesBucket(t *testing.T) {
	cases := map[string]func(n int64, w http.ResponseWriter, r *http.Request) bool{
		"PartsFail": func(n int64, w http.ResponseWriter, r *http.Request) bool {
			return isPart(r) && n%3 == 0 && s3Answer(w, 503, "SlowDown")
		},
		"PartsBreak": func(n int64, _ http.ResponseWriter, r *http.Request) bool {
			if isPart(r) && n%4 == 0 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
		"PartArrivesDamaged": func(n int64, w http.ResponseWriter, r *http.Request) bool {
			return isPart(r) && n == 20 && s3Answer(w, 400, "BadDigest")
		},
	}
	for name, breaks := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := s3test.New(t)
			var n atomic.Int64
			to := brokenS3(t, b, func(w http.ResponseWriter, r *http.Request) bool { return breaks(n.Add(1), w, r) })
			h := hubtest.New(t, hubtest.Options{}, light())
			mustRun(t, config(t, h, to))
			verify(t, b.Store(t, "m"), light())
		})
	}
}

// The fetch fails on permanent faults of the bucket.
func TestGivesUpOnBucket(t *testing.T) {
	isPut := func(r *http.Request) bool { return r.Method == http.MethodPut }
	cases := map[string]struct {
		refused func(*http.Request) bool
		status  int
		code    string
		want    fault.Kind
	}{
		"ReadOnly":    {isPut, 403, "AccessDenied", fault.Denied},
		"NotAllowed":  {isPut, 405, "MethodNotAllowed", fault.Denied},
		"Full":        {isPut, 507, "InsufficientStorage", fault.Quota},
		"QuotaMinIO":  {isPut, 507, "XMinioStorageFull", fault.Quota},
		"QuotaBucket": {isPart, 403, "QuotaExceeded", fault.Quota},
		"FullLater":   {isPart, 507, "InsufficientStorage", fault.Quota},
		"Expired":     {isPart, 400, "ExpiredToken", fault.Denied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := s3test.New(t)
			h := hubtest.New(t, hubtest.Options{}, light())
			breaks := func(w http.ResponseWriter, r *http.Request) bool {
				return c.refused(r) && s3Answer(w, c.status, c.code)
			}
			_, err := fetch.Run(t.Context(), config(t, h, brokenS3(t, b, breaks)))
			if fault.KindOf(err) != c.want || !strings.Contains(err.Error(), "the S3 service answers "+c.code) {
				t.Errorf("Run = %v (%s), want %s", err, fault.KindOf(err), c.want)
			}
			to := b.Store(t, "m")
			noManifest(t, to)
			if n := b.Uploads(t); c.want == fault.Quota && n != 0 {
				t.Errorf("%d unfinished uploads keep the bucket full", n)
			}
			mustRun(t, config(t, h, to))
			verify(t, to, light())
		})
	}
}

// TestFullBucketKeepsNoUpload refuses a part of one file while the upload of another
// begins: neither may stay in the full bucket.
func TestFullBucketKeepsNoUpload(t *testing.T) {
	b := s3test.New(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	begins, refused := make(chan struct{}), make(chan struct{})
	var begun, first sync.Once
	to := brokenS3(t, b, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads") && strings.HasSuffix(r.URL.Path, large):
			begun.Do(func() { close(begins) })
			<-refused
		case isPart(r) && !strings.HasSuffix(r.URL.Path, large):
			<-begins
			defer first.Do(func() { close(refused) })
			return s3Answer(w, http.StatusInsufficientStorage, "InsufficientStorage")
		}
		return false
	})
	if _, err := fetch.Run(t.Context(), config(t, h, to)); !fault.Is(err, fault.Quota) {
		t.Fatalf("Run = %v", err)
	}
	if n := b.Uploads(t); n != 0 {
		t.Errorf("%d unfinished uploads keep the bucket full", n)
	}
}

func TestWrongBucketAndKeys(t *testing.T) {
	b := s3test.New(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	cases := map[string]struct {
		change func(bucket string, cfg *s3.Config) string
		want   fault.Kind
		text   string
	}{
		"NoBucket":    {func(string, *s3.Config) string { return "no-such-bucket" }, fault.NotFound, "it does not exist"},
		"WrongKey":    {func(b string, c *s3.Config) string { c.AccessKey = "other"; return b }, fault.Denied, "access key"},
		"WrongSecret": {func(b string, c *s3.Config) string { c.SecretKey = "other"; return b }, fault.Denied, "SignatureDoesNotMatch"},
		"NoServer":    {func(b string, c *s3.Config) string { c.Endpoint = "http://127.0.0.1:1"; return b }, fault.Transient, "refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := b.Config
			bucket := c.change(b.Name, &cfg)
			to, err := s3.Open(t.Context(), bucket, "m", cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = fetch.Run(t.Context(), config(t, h, to))
			if fault.KindOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Run = %v (%s), want %s with %q", err, fault.KindOf(err), c.want, c.text)
			}
		})
	}
}

// tmpfs mounts a separate file system, or skips the test if that is not permitted.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("file systems cannot be mounted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A fetch to a file system that is really full.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	h := hubtest.New(t, hubtest.Options{}, light())
	t.Run("Dir", func(t *testing.T) {
		to := dirStore(t, tmpfs(t, "size=8m"))
		_, err := fetch.Run(t.Context(), config(t, h, to))
		if !fault.Is(err, fault.Quota) {
			t.Errorf("Run = %v, want Quota", err)
		}
		noManifest(t, to)
	})
	t.Run("S3", func(t *testing.T) {
		b := s3test.NewOn(t, s3test.Start(t, tmpfs(t, "size=12m"), ""))
		_, err := fetch.Run(t.Context(), config(t, h, b.Store(t, "m")))
		if !fault.Is(err, fault.Quota) {
			t.Errorf("Run = %v, want Quota", err)
		}
		if n := b.Uploads(t); n != 0 {
			t.Errorf("%d unfinished uploads keep the disk full", n)
		}
	})
}

func TestReadOnlyDisk(t *testing.T) {
	dir := tmpfs(t, "size=64m")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	h := hubtest.New(t, hubtest.Options{}, light())
	_, err := fetch.Run(t.Context(), config(t, h, dirStore(t, dir+"/models")))
	if !fault.Is(err, fault.Denied) {
		t.Errorf("Run = %v, want Denied", err)
	}
}

func TestTargetIsAFile(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := hubtest.New(t, hubtest.Options{}, light())
	_, err := fetch.Run(t.Context(), config(t, h, dirStore(t, file)))
	if !fault.Final(err) || !strings.Contains(err.Error(), "is a file: name a folder") {
		t.Errorf("Run = %v, want a final error that names the cause", err)
	}
}

// The gateway restarts during the fetch. Meanwhile reports tell that it is away.
func TestGatewayRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := s3test.Start(t, dir, "")
	b := s3test.NewOn(t, g)
	h := hubtest.New(t, hubtest.Options{}, light())
	to := b.Store(t, "m")
	cfg := config(t, h, to)
	restarts := make(chan struct{}, 100)
	cfg.To = &spy{Store: to, wrote: func(string, int) { restarts <- struct{}{} }}
	var seen reports
	told := make(chan string, 1)
	cfg.Progress = func(p progress.Report) {
		seen.add(p)
		if p.Phase == progress.Running && p.Message != "" {
			select {
			case told <- p.Message:
			default:
			}
		}
	}
	ctx := waittest.Context(t)
	done := make(chan error, 1)
	go func() {
		_, err := fetch.Run(ctx, cfg)
		done <- err
	}()
	waittest.Receive(t, "the first part is written", restarts)
	g.Kill()
	if message := waittest.Receive(t, "a report of the outage", told); !strings.Contains(message, "cannot reach the S3 service") {
		t.Errorf("the report of the outage says %q", message)
	}
	s3test.Start(t, dir, strings.TrimPrefix(g.Endpoint, "http://"))
	if err := waittest.Receive(t, "the fetch ends", done); err != nil {
		t.Fatal(err)
	}
	if last := seen.last(t); last.Message != "" {
		t.Errorf("the last report is %+v", last)
	}
	verify(t, to, light())
}
