package s3

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/test/waittest"
)

func testConfig(dir string) Config {
	return Config{Dir: dir, AccessKey: "key", SecretKey: "secret"}
}

func clientConfig(s *Server) s3.Config {
	return s3.Config{Endpoint: s.Endpoint(), AccessKey: "key", SecretKey: "secret"}
}

// The stores of all file systems behave the same.
func TestLayoutsConform(t *testing.T) {
	for name, r := range map[string]request{"AsDetected": {}, "NoXattrsNoTmpFiles": {Sidecar: true, NoTmpFiles: true}} {
		t.Run(name, func(t *testing.T) {
			r.Config = testConfig(t.TempDir())
			srv, err := start(t.Context(), r)
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
	second, err := Start(t.Context(), testConfig(t.TempDir()))
	if err != nil {
		t.Fatalf("a second gateway: %v", err)
	}
	cancel()
	if err := srv.Wait(); err != nil {
		t.Errorf("Wait = %v", err)
	}
	if _, err := Start(ctx, testConfig(t.TempDir())); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Start with an ended context: %v, want Interrupted", err)
	}
	newBucket(t, second)
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// A gateway that dies is back at the same address, with its data.
func TestChildIsRestarted(t *testing.T) {
	srv, err := Start(t.Context(), testConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Kill()
	store := newBucket(t, srv)()
	if err := store.Put(t.Context(), "a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	for _, pid := range children(t) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, "the object in a restarted gateway", func() bool {
		o, err := store.Stat(t.Context(), "a")
		return err == nil && o.Size == 4
	})
}

// children returns the process ids of gateways that this process has started.
func children(t *testing.T) (pids []int) {
	t.Helper()
	raw, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(raw) == 0 {
		t.Skip("this kernel does not list children in /proc")
	}
	for _, name := range raw {
		list, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended
		}
		for _, field := range strings.Fields(string(list)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// A gateway ends with its parent, however that ends.
func TestChildEndsWithItsParent(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), parentEnv+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waittest.Until(t, "the end of the gateway", func() bool {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(strings.TrimSpace(addr), "http://"), waittest.Limit(time.Second))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
}

// parentEnv makes the test binary a parent that only starts a gateway.
const parentEnv = "KOLDUN_S3_TEST_PARENT"

func TestMain(m *testing.M) {
	RunChild()
	if dir := os.Getenv(parentEnv); dir != "" {
		srv, err := Start(context.Background(), testConfig(dir))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(srv.Endpoint())
		select {}
	}
	os.Exit(m.Run())
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
