// Package s3test gives tests a real S3 gateway.
//
// The gateway runs in a child process, which is the test binary started again:
// so it neither changes the working directory of the tests nor counts in what
// they measure of themselves. A package that uses it has
//
//	func TestMain(m *testing.M) { s3test.Main(m) }
package s3test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/embedded/s3"
	"github.com/gorizond/koldun/internal/objectstore"
	s3store "github.com/gorizond/koldun/internal/objectstore/s3"
)

// AccessKey and SecretKey are those of every gateway of this package.
const (
	AccessKey = "koldun-test"
	SecretKey = "koldun-test-secret"
)

// dirEnv and listenEnv tell the child that it is one, and versionsEnv that it
// is to keep versions.
const (
	dirEnv      = "KOLDUN_S3TEST_DIR"
	listenEnv   = "KOLDUN_S3TEST_LISTEN"
	versionsEnv = "KOLDUN_S3TEST_VERSIONS"
)

// shared is the gateway of this test binary: one, because each costs a process.
var shared struct {
	sync.Mutex
	main    bool
	dir     string
	gateway *Gateway
	buckets atomic.Int64
}

// Main runs the tests of a package, or the gateway if this process is one. It
// does not return.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Child reports whether this process is the gateway, and is to call Main at
// once. Packages ask that have more to prepare.
func Child() bool { return os.Getenv(dirEnv) != "" }

// Run is Main for packages that have more to clean up: it returns the exit
// status, which the process has to end with.
func Run(m *testing.M) int {
	if dir := os.Getenv(dirEnv); dir != "" {
		return serve(dir, os.Getenv(listenEnv))
	}
	shared.main = true
	code := m.Run()
	if shared.gateway != nil {
		shared.gateway.Kill()
		_ = os.RemoveAll(shared.dir)
	}
	return code
}

// serve is the life of the child: it ends with its standard input, which ends
// with its parent.
func serve(dir, listen string) int {
	srv, err := s3.Start(context.Background(), s3.Config{Dir: dir, Listen: listen, AccessKey: AccessKey, SecretKey: SecretKey, Versions: os.Getenv(versionsEnv) != ""})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(srv.Endpoint())
	// The library prints every broken connection there, and tests break many.
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := srv.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A Gateway is one child process.
type Gateway struct {
	Endpoint string
	cmd      *exec.Cmd
	stdin    io.Closer
}

// Start runs a gateway of a test's own over a folder; listen is "" or
// "host:port". It is killed when the test ends, at the latest.
func Start(t testing.TB, dir, listen string) *Gateway {
	t.Helper()
	return run(t, dir, listen)
}

// StartVersioned is Start for a gateway that keeps old versions of objects.
func StartVersioned(t testing.TB, dir string) *Gateway {
	t.Helper()
	return run(t, dir, "", versionsEnv+"=1")
}

func run(t testing.TB, dir, listen string, env ...string) *Gateway {
	t.Helper()
	g, err := start(dir, listen, env...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	return g
}

func start(dir, listen string, env ...string) (*Gateway, error) {
	if !shared.main {
		return nil, fmt.Errorf("cannot start an S3 gateway: the package has no TestMain that calls s3test.Main")
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), dirEnv+"="+dir, listenEnv+"="+listen), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	endpoint, err := readEndpoint(stdout)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("cannot start an S3 gateway: %w", err)
	}
	return &Gateway{Endpoint: endpoint, cmd: cmd, stdin: stdin}, nil
}

// readEndpoint skips what the library says before.
func readEndpoint(stdout io.Reader) (string, error) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "http://") {
			return strings.TrimSpace(line), err
		}
	}
}

// Kill ends the gateway at once. It may be called more than once.
func (g *Gateway) Kill() {
	_ = g.stdin.Close()
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
}

// Config is how to connect.
func (g *Gateway) Config() s3store.Config {
	return s3store.Config{Endpoint: g.Endpoint, Region: s3.Region, AccessKey: AccessKey, SecretKey: SecretKey}
}

// A Bucket is a fresh bucket.
type Bucket struct {
	Name   string
	Config s3store.Config
	Client *awss3.Client
}

// New makes a bucket on the gateway of this test binary.
func New(t testing.TB) *Bucket {
	t.Helper()
	return NewOn(t, sharedGateway(t))
}

// NewOn makes a bucket on a gateway.
func NewOn(t testing.TB, g *Gateway) *Bucket {
	t.Helper()
	b := &Bucket{Name: fmt.Sprintf("test-%d-%d", os.Getpid(), shared.buckets.Add(1)), Config: g.Config()}
	var err error
	if b.Client, err = s3store.NewClient(context.Background(), b.Config); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Client.CreateBucket(context.Background(), &awss3.CreateBucketInput{Bucket: aws.String(b.Name)}); err != nil {
		t.Fatalf("cannot create bucket %q: %v", b.Name, err)
	}
	return b
}

// Store is the bucket from a prefix on.
func (b *Bucket) Store(t testing.TB, prefix string) objectstore.Store {
	t.Helper()
	s, err := s3store.New(b.Client, b.Name, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Uploads counts the unfinished multipart uploads.
func (b *Bucket) Uploads(t testing.TB) int {
	t.Helper()
	out, err := b.Client.ListMultipartUploads(context.Background(), &awss3.ListMultipartUploadsInput{Bucket: &b.Name})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Uploads)
}

func sharedGateway(t testing.TB) *Gateway {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.gateway != nil {
		return shared.gateway
	}
	dir, err := os.MkdirTemp("", "koldun-s3test-")
	if err != nil {
		t.Fatal(err)
	}
	g, err := start(dir, "")
	if err != nil {
		_ = os.RemoveAll(dir)
		t.Fatal(err)
	}
	shared.dir, shared.gateway = dir, g
	return g
}
