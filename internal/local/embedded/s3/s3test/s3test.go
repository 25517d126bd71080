// Package s3test gives tests a real S3 gateway.
//
// The gateway is a child process, so that it does not count in what tests measure
// of their own process. A package that uses it has
//
//	func TestMain(m *testing.M) { s3test.Main(m) }
package s3test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
)

// AccessKey and SecretKey are the credentials of every gateway of this package.
const (
	AccessKey = "koldun-test"
	SecretKey = "koldun-test-secret"
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

// Run is Main for packages that clean up after it: it returns the exit status of
// the process.
func Run(m *testing.M) int {
	s3.RunChild()
	shared.main = true
	code := m.Run()
	if shared.gateway != nil {
		shared.gateway.Kill()
		_ = os.RemoveAll(shared.dir)
	}
	return code
}

// A Gateway is one child process.
type Gateway struct {
	Endpoint string
	server   *s3.Server
}

// Start runs a gateway of a test's own over a folder; listen is "" or
// "host:port". It ends with the test, or with Kill before.
func Start(t testing.TB, dir, listen string) *Gateway {
	t.Helper()
	return run(t, s3.Config{Dir: dir, Listen: listen})
}

// StartVersioned is Start for a gateway that keeps old versions of objects.
func StartVersioned(t testing.TB, dir string) *Gateway {
	t.Helper()
	return run(t, s3.Config{Dir: dir, Versions: true})
}

func run(t testing.TB, cfg s3.Config) *Gateway {
	t.Helper()
	g, err := start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	return g
}

func start(cfg s3.Config) (*Gateway, error) {
	if !shared.main {
		return nil, fmt.Errorf("cannot start an S3 gateway: the package has no TestMain that calls s3test.Main")
	}
	cfg.AccessKey, cfg.SecretKey, cfg.Sessions = AccessKey, SecretKey, true
	server, err := s3.Start(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	return &Gateway{Endpoint: server.Endpoint(), server: server}, nil
}

// Kill ends the gateway at once. It may be called more than once.
func (g *Gateway) Kill() { g.server.Kill() }

// Config returns the connection to the gateway.
func (g *Gateway) Config() s3store.Config {
	return s3store.Config{Endpoint: g.Endpoint, Region: s3.Region, AccessKey: AccessKey, SecretKey: SecretKey}
}

// A Bucket is a fresh bucket.
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

// Store returns a store of the bucket below a prefix.
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
	g, err := start(s3.Config{Dir: dir})
	if err != nil {
		_ = os.RemoveAll(dir)
		t.Fatal(err)
	}
	shared.dir, shared.gateway = dir, g
	return g
}
