// Program skipper is the ingress controller Skipper with its parts for Ingresses: it watches
// them, and proxies by HTTP and, with the certificates that they name, by HTTPS. All parts of
// the published program would bring several times as many packages.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"log"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/zalando/skipper/dataclients/kubernetes"
	"github.com/zalando/skipper/filters/builtin"
	"github.com/zalando/skipper/loadbalancer"
	"github.com/zalando/skipper/proxy"
	"github.com/zalando/skipper/routing"
	"github.com/zalando/skipper/secrets/certregistry"
)

func main() {
	class := flag.String("class", "skipper", "class of the Ingresses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *class); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, class string) error {
	certificates := certregistry.NewCertRegistry()
	ingresses, err := kubernetes.New(kubernetes.Options{
		KubernetesInCluster: true, KubernetesEnableEndpointslices: true, IngressClass: "^" + class + "$",
		CertificateRegistry: certificates, PathMode: kubernetes.PathPrefix,
	})
	if err != nil {
		return err
	}
	defer ingresses.Close()
	endpoints := routing.NewEndpointRegistry(routing.RegistryOptions{})
	routes := routing.New(routing.Options{
		FilterRegistry: builtin.MakeRegistry(), DataClients: []routing.DataClient{ingresses}, PollTimeout: time.Second,
		PostProcessors: []routing.PostProcessor{loadbalancer.NewAlgorithmProvider(), endpoints},
	})
	defer routes.Close()
	through := proxy.WithParams(proxy.Params{Routing: routes, EndpointRegistry: endpoints})
	defer through.Close()
	handler := fullDuplex(through)
	plain := &http.Server{Addr: ":8080", Handler: handler, ReadHeaderTimeout: time.Minute}
	secure := &http.Server{Addr: ":8443", Handler: handler, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{GetCertificate: certificates.GetCertFromHello}}
	failed := make(chan error, 2)
	go func() { failed <- plain.ListenAndServe() }()
	go func() { failed <- secure.ListenAndServeTLS("", "") }()
	select {
	case <-ctx.Done():
		return errors.Join(plain.Close(), secure.Close())
	case err := <-failed:
		return err
	}
}

// fullDuplex lets a handler read the body of a request while it writes the answer. Without it
// net/http closes the body when the answer begins. If the backend answers before the proxy has
// read the end of the body, the proxy takes that for a broken request, and cuts the answer
// (golang/go#40747): on a busy machine one of a dozen answers of a tiny model.
func fullDuplex(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // net/http's writers all can
		h.ServeHTTP(w, r)
	})
}
