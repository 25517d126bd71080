package s3

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/objectstore/s3"
	"github.com/gorizond/koldun/internal/objectstore/storetest"
)

func testConfig(dir string) Config {
	return Config{Dir: dir, AccessKey: "key", SecretKey: "secret"}
}

func clientConfig(s *Server) s3.Config {
	return s3.Config{Endpoint: s.Endpoint(), AccessKey: "key", SecretKey: "secret"}
}

// The stores of all file systems behave the same.
func TestLayoutsConform(t *testing.T) {
	cases := map[string]func(*layout){
		"AsDetected":         func(*layout) {},
		"NoXattrsNoTmpFiles": func(l *layout) { l.sidecar, l.noTmpFile = true, true },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t.TempDir())
			l, err := prepare(cfg)
			if err != nil {
				t.Fatal(err)
			}
			change(&l)
			if err := os.MkdirAll(l.meta, 0o700); err != nil {
				t.Fatal(err)
			}
			srv, err := startAnywhere(t.Context(), cfg, l, "127.0.0.1", "0")
			if err != nil {
				t.Fatal(err)
			}
			storetest.Run(t, func(t *testing.T) func() objectstore.Store {
				return newBucket(t, srv)
			})
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func newBucket(t *testing.T, srv *Server) func() objectstore.Store {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	client, err := s3.NewClient(t.Context(), clientConfig(srv))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatal(err)
	}
	return func() objectstore.Store {
		s, err := s3.New(client, name, "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestRestartKeepsData(t *testing.T) {
	for name, sidecar := range map[string]bool{"Detected": false, "Sidecar": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if sidecar { // as a start on a file system without attributes leaves it
				if err := os.MkdirAll(filepath.Join(dir, "meta"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			before, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			srv, err := Start(t.Context(), testConfig(dir))
			if err != nil {
				t.Fatal(err)
			}
			store := newBucket(t, srv)()
			if err := store.Put(t.Context(), "a/b", []byte("kept")); err != nil {
				t.Fatal(err)
			}
			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			if after, _ := os.Getwd(); after != before {
				t.Errorf("the working directory is %q after Close, was %q", after, before)
			}
			cfg := testConfig(dir)
			cfg.Listen = strings.TrimPrefix(srv.Endpoint(), "http://")
			srv, err = Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if o, err := store.Stat(t.Context(), "a/b"); err != nil || o.Size != 4 || o.ETag == "" {
				t.Errorf("after a restart Stat = %+v, %v", o, err)
			}
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestContextStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv, err := Start(ctx, testConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(ctx, testConfig(t.TempDir())); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second gateway: %v, want a Conflict", err)
	}
	cancel()
	if err := srv.Wait(); err != nil {
		t.Errorf("Wait = %v", err)
	}
	if _, err := Start(ctx, testConfig(t.TempDir())); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Start with an ended context: %v, want Interrupted", err)
	}
	srv, err = Start(t.Context(), testConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		change func(*Config)
		want   fault.Kind
	}{
		"NoDir":       {func(c *Config) { c.Dir = "" }, fault.Invalid},
		"NoKeys":      {func(c *Config) { c.SecretKey = "" }, fault.Invalid},
		"NotLoopback": {func(c *Config) { c.Listen = "0.0.0.0:0" }, fault.Invalid},
		"NoPort":      {func(c *Config) { c.Listen = "127.0.0.1" }, fault.Invalid},
		"PortTaken":   {func(c *Config) { c.Listen = taken.Addr().String() }, fault.Conflict},
		"DirIsFile":   {func(c *Config) { c.Dir = file }, fault.Denied},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t.TempDir())
			c.change(&cfg)
			if _, err := Start(t.Context(), cfg); fault.KindOf(err) != c.want {
				t.Errorf("Start = %v, want kind %s", err, c.want)
			}
		})
	}
}
