package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// A mounter mounts volumes on a node.
type mounter struct {
	csi.UnimplementedNodeServer
	node string
}

func (m *mounter) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: m.node}, nil
}

func (*mounter) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

// NodePublishVolume mounts a volume for a pod, once however often it is called.
func (*mounter) NodePublishVolume(ctx context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	slog.Info("mount", "volume", r.VolumeId, "attributes", r.VolumeContext, "readonly", r.Readonly)
	if !r.Readonly {
		return nil, status.Error(codes.InvalidArgument, "volumes of this driver are read-only")
	}
	if mounted(r.TargetPath) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if err := publish(ctx, r); err != nil {
		_ = unpublish(r.TargetPath)
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func publish(ctx context.Context, r *csi.NodePublishVolumeRequest) error {
	bucket, prefix, _ := strings.Cut(r.VolumeId, "/")
	from, err := s3.Open(ctx, bucket, prefix, s3.Config{
		Endpoint: r.Secrets["endpoint"], AccessKey: r.Secrets["accessKeyID"], SecretKey: r.Secrets["secretAccessKey"], CA: r.Secrets["ca"],
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(r.TargetPath, 0o750); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", r.TargetPath, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("cannot mount %q: %w", r.TargetPath, err)
	}
	objects, err := from.List(ctx, "")
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return fmt.Errorf("volume %q has no files", r.VolumeId)
	}
	for _, o := range objects {
		if err := read(ctx, from, o.Name, filepath.Join(r.TargetPath, filepath.FromSlash(o.Name))); err != nil {
			return err
		}
	}
	return unix.Mount("", r.TargetPath, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// read reads an object into a file, which it closes: open files keep a volume mounted.
func read(ctx context.Context, from objectstore.Store, name, file string) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	in, err := from.Open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// NodeUnpublishVolume unmounts a volume of a pod, once however often it is called.
func (*mounter) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := unpublish(r.TargetPath); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

func unpublish(target string) error {
	if mounted(target) {
		if err := unix.Unmount(target, 0); err != nil {
			return fmt.Errorf("cannot unmount %q: %w", target, err)
		}
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mounted reports whether there is a volume of this driver.
func mounted(target string) bool {
	var s unix.Statfs_t
	return unix.Statfs(target, &s) == nil && s.Type == unix.TMPFS_MAGIC
}
