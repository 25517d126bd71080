package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Labels, annotations and values of Crossplane's package manager.
const (
	labelPackage       = "pkg.crossplane.io/package"
	annotationPaused   = "crossplane.io/paused"
	capabilityCompose  = "composition"
	groupVersionOfPkgs = "pkg.crossplane.io/v1"
)

// A Function is served to Crossplane by the test.
type Function struct {
	name   string
	server *grpc.Server
}

// ServeFunction serves fn to Crossplane as the Function of that name, with
// mutual TLS, until the cluster stops. A Function of the same name that is
// served already is replaced; calls that it has begun are finished.
//
// The Function has no package. To install one see [Cluster.ServePackages].
func (c *Cluster) ServeFunction(ctx context.Context, name string, fn fnv1.FunctionRunnerServiceServer) error {
	creds, err := c.functionCredentials(ctx)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen for Function %q: %w", name, err)
	}
	server := grpc.NewServer(grpc.Creds(creds))
	fnv1.RegisterFunctionRunnerServiceServer(server, fn)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Stop
	}()
	stop := func() {
		server.Stop()
		<-served
	}
	if err := c.ConnectFunction(ctx, name, listener.Addr().String()); err != nil {
		stop()
		return err
	}

	c.mu.Lock()
	replaced := c.functions[name]
	c.functions[name] = &Function{name: name, server: server}
	c.closers = append(c.closers, stop)
	c.mu.Unlock()
	if replaced != nil {
		replaced.server.GracefulStop()
	}
	return nil
}

// ConnectFunction leads Crossplane to a Function of that name that is served
// at address (host:port of loopback) with a certificate of [Cluster.FunctionCertificates].
func (c *Cluster) ConnectFunction(ctx context.Context, name, address string) error {
	revision, err := c.activeRevision(ctx, name)
	if err != nil {
		return err
	}
	if revision == nil {
		if revision, err = c.makeRevision(ctx, name); err != nil {
			return err
		}
	}
	before := revision.DeepCopy()
	err = errors.Join(
		unstructured.SetNestedField(revision.Object, address, "status", "endpoint"),
		unstructured.SetNestedStringSlice(revision.Object, []string{capabilityCompose}, "status", "capabilities"),
	)
	if err != nil {
		return err
	}
	if err := c.client.Status().Patch(ctx, revision, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("cannot set endpoint of FunctionRevision %q: %w", revision.GetName(), err)
	}
	return nil
}

// activeRevision of the Function, or nil.
func (c *Cluster) activeRevision(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(groupVersionOfPkgs, "FunctionRevisionList"))
	if err := c.client.List(ctx, &list, client.MatchingLabels{labelPackage: name}); err != nil {
		return nil, fmt.Errorf("cannot list revisions of Function %q: %w", name, err)
	}
	for i := range list.Items {
		state, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "desiredState")
		if state == "Active" {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// makeRevision creates a Function and its active revision as the package
// manager would, and keeps the package manager from looking for its package.
func (c *Cluster) makeRevision(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	image := "registry.invalid/" + name + ":v0.0.0"
	function := object("Function", name, map[string]any{"package": image})
	if err := c.create(ctx, function); err != nil {
		return nil, err
	}
	revision := object("FunctionRevision", name+"-served", map[string]any{
		"image": image, "desiredState": "Active", "revision": int64(1),
	})
	revision.SetLabels(map[string]string{labelPackage: name})
	return revision, c.create(ctx, revision)
}

func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(groupVersionOfPkgs, kind))
	o.SetName(name)
	o.SetAnnotations(map[string]string{annotationPaused: "true"})
	return o
}

func (c *Cluster) create(ctx context.Context, o client.Object) error {
	if err := c.client.Create(ctx, o); err != nil {
		return fmt.Errorf("cannot create %s %q: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
	return nil
}

// FunctionCertificates writes the certificates of a Function (tls.crt,
// tls.key, ca.crt) into dir, for a program that serves one.
func (c *Cluster) FunctionCertificates(ctx context.Context, dir string) error {
	ca, err := c.functionAuthority(ctx)
	if err != nil {
		return err
	}
	cert, key, err := ca.server()
	if err != nil {
		return err
	}
	return writeFiles(dir, map[string][]byte{tlsCert: cert, tlsKey: key, caCert: ca.pem})
}

func (c *Cluster) functionCredentials(ctx context.Context) (credentials.TransportCredentials, error) {
	ca, err := c.functionAuthority(ctx)
	if err != nil {
		return nil, err
	}
	cert, key, err := ca.server()
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("cannot load certificate: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(ca.cert)
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
	}), nil
}

// functionAuthority is the authority that Crossplane trusts.
func (c *Cluster) functionAuthority(ctx context.Context) (*authority, error) {
	var s corev1.Secret
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: SystemNamespace, Name: secretRootCA}, &s); err != nil {
		return nil, fmt.Errorf("cannot get certificate authority of Crossplane: %w", err)
	}
	return parseAuthority(s.Data[tlsCert], s.Data[tlsKey])
}
