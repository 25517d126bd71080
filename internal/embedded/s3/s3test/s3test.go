// Package s3test gives tests a real S3 gateway.
//
// The gateway runs in a child process of the test binary, so that it affects
// neither the working directory of the tests nor their measurements. A package
// that uses it has
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

// AccessKey and SecretKey are the credentials of every gateway of this package.
const (
	AccessKey = "koldun-test"
	SecretKey = "koldun-test-secret"
)

// dirEnv and listenEnv mark the child process, and versionsEnv enables versions.
const (
	dirEnv      = "KOLDUN_S3TEST_DIR"
	listenEnv   = "KOLDUN_S3TEST_LISTEN"
	versionsEnv = "KOLDUN_S3TEST_VERSIONS"
)

// shared is the only gateway of this test binary, because each needs a process.
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

// Child reports whether this process is the gateway and must call Main at once.
// It is for packages with a longer TestMain.
func Child() bool { return os.Getenv(dirEnv) != "" }

// Run is Main for packages that must clean up: it returns the exit status of the
// process.
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

// serve runs the gateway in the child until its standard input closes, which
// happens when the parent exits.
func serve(dir, listen string) int {
	srv, err := s3.Start(context.Background(), s3.Config{Dir: dir, Listen: listen, AccessKey: AccessKey, SecretKey: SecretKey, Versions: os.Getenv(versionsEnv) != ""})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(srv.Endpoint())
	// The library prints every broken connection, and tests break many.
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

// Start runs a separate gateway for a test on a folder; listen is "" or
// "host:port". The end of the test kills it.
func Start(t testing.TB, dir, listen string) *Gateway {
	t.Helper()
	return run(t, dir, listen)
}

// StartVersioned is like Start, with old versions of objects.
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

// readEndpoint skips the output of the library.
func readEndpoint(stdout io.Reader) (string, error) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "http://") {
			return strings.TrimSpace(line), err
		}
	}
}

// Kill kills the gateway. It may be called more than once.
func (g *Gateway) Kill() {
	_ = g.stdin.Close()
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
}

// Config returns the configuration for clients.
func (g *Gateway) Config() s3store.Config {
	return s3store.Config{Endpoint: g.Endpoint, Region: s3.Region, AccessKey: AccessKey, SecretKey: SecretKey}
}

// A Bucket is a new bucket.
type Bucket struct {
	Name   string
	Config s3store.Config
	Client *awss3.Client
}

// New creates a bucket on the gateway of this test binary.
func New(t testing.TB) *Bucket {
	t.Helper()
	return NewOn(t, sharedGateway(t))
}

// NewOn creates a bucket on a gateway.
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

// Store returns the bucket as a Store with a key prefix.
func (b *Bucket) Store(t testing.TB, prefix string) objectstore.Store {
	t.Helper()
	s, err := s3store.New(b.Client, b.Name, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Uploads returns the number of unfinished multipart uploads.
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
