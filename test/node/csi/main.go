// Program csi is a CSI driver whose volumes are folders of an S3 server, for files that no
// longer change: at each mount it reads them into the memory of the node. It has the node's
// part of the protocol, which is what volumes without a provisioner need.
//
// Its Secret has the keys of the drivers for S3 that people use: endpoint, accessKeyID and
// secretAccessKey, and in ca the authority of the server. A volume handle is BUCKET/PREFIX.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

func main() {
	name := flag.String("name", "", "name of the driver")
	node := flag.String("node", "", "name of the node")
	kubelet := flag.String("kubelet", "", "folder of the kubelet, mounted at the same path")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *name, *node, *kubelet); err != nil {
		slog.Error("cannot run the driver", "error", err)
		os.Exit(1)
	}
}

// run serves the driver, and then tells the kubelet of it by a socket in its folder.
func run(ctx context.Context, name, node, kubelet string) error {
	endpoint := filepath.Join(kubelet, "plugins", name, "csi.sock")
	driver := grpc.NewServer()
	csi.RegisterIdentityServer(driver, &identity{name: name})
	csi.RegisterNodeServer(driver, &mounter{node: node})
	failed := make(chan error, 2)
	if err := serve(ctx, driver, endpoint, failed); err != nil {
		return err
	}
	defer driver.Stop()
	registrar := grpc.NewServer()
	registration.RegisterRegistrationServer(registrar, &registered{name: name, endpoint: endpoint, failed: failed})
	if err := serve(ctx, registrar, filepath.Join(kubelet, "plugins_registry", name+"-reg.sock"), failed); err != nil {
		return err
	}
	defer registrar.Stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// serve serves at a socket until the server is stopped. It reports why it ends before.
func serve(ctx context.Context, s *grpc.Server, socket string, failed chan<- error) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o750); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // that of the pod before
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	go func() { // ends with Stop
		if err := s.Serve(l); err != nil {
			failed <- fmt.Errorf("cannot serve %q: %w", socket, err)
		}
	}()
	return nil
}

// An identity names the driver.
type identity struct {
	csi.UnimplementedIdentityServer
	name string
}

func (i *identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: i.name, VendorVersion: "v0.0.0"}, nil
}

func (*identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

func (*identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// registered tells the kubelet where the driver is.
type registered struct {
	registration.UnimplementedRegistrationServer
	name, endpoint string
	failed         chan<- error
}

func (r *registered) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: r.name, Endpoint: r.endpoint, SupportedVersions: []string{"1.0.0"}}, nil
}

func (r *registered) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !s.PluginRegistered {
		r.failed <- fmt.Errorf("the kubelet does not take the driver: %s", s.Error)
	}
	return &registration.RegistrationStatusResponse{}, nil
}
