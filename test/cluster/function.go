package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ServeFunction serves fn to Crossplane as the named Function, with mutual TLS, until
// the cluster stops. It replaces a server of the same Function after its open calls
// have ended.
//
// If the Function is not installed from a package (see [Cluster.ServePackages]),
// ServeFunction creates it without one.
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
		_ = server.Serve(listener) // returns after Stop
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
	c.functions[name] = server
	c.closers = append(c.closers, stop)
	c.mu.Unlock()
	if replaced != nil {
		replaced.GracefulStop()
	}
	return nil
}

// FunctionCertificates writes the certificates of a Function (tls.crt,
// tls.key, ca.crt) to dir, for a program that serves it.
func (ce *certificates) FunctionCertificates(ctx context.Context, dir string) error {
	files, err := ce.serverCertificate(ctx)
	if err != nil {
		return err
	}
	return writeFiles(dir, files)
}

// serverCertificate creates a certificate that Crossplane trusts: tls.crt, tls.key and
// ca.crt.
func (ce *certificates) serverCertificate(ctx context.Context) (map[string][]byte, error) {
	ca, err := ce.functionAuthority(ctx)
	if err != nil {
		return nil, err
	}
	cert, key, err := ca.server()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{tlsCert: cert, tlsKey: key, caCert: ca.pem}, nil
}

func (ce *certificates) functionCredentials(ctx context.Context) (credentials.TransportCredentials, error) {
	files, err := ce.serverCertificate(ctx)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(files[tlsCert], files[tlsKey])
	if err != nil {
		return nil, fmt.Errorf("cannot load certificate: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(files[caCert])
	return credentials.NewTLS(&tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
	}), nil
}

// functionAuthority returns the certificate authority that Crossplane trusts.
func (ce *certificates) functionAuthority(ctx context.Context) (*authority, error) {
	var s corev1.Secret
	if err := ce.client.Get(ctx, client.ObjectKey{Namespace: SystemNamespace, Name: secretRootCA}, &s); err != nil {
		return nil, fmt.Errorf("cannot get certificate authority of Crossplane: %w", err)
	}
	return parseAuthority(s.Data[tlsCert], s.Data[tlsKey])
}
