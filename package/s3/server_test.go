package s3_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/package/manifesttest"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/process"
)

// start runs the server as the pod does, with the Secret that the Job makes. Only the
// folders and the address differ. It returns the process and how clients connect.
func start(t *testing.T, m *manifests) (*process.Server, s3.Config) {
	t.Helper()
	program, err := filepath.Abs("../../bin/versitygw")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		cluster.Missing(t, "versitygw", "make bin/versitygw")
	}
	made, c := manifesttest.Secrets{}, m.container()
	if _, err := bootstrap.Ensure(t.Context(), made, name); err != nil {
		t.Fatal(err)
	}
	at := porttest.Address(t)
	places := []string{":7070", at}
	for _, mount := range c.VolumeMounts {
		folder := filepath.Join(t.TempDir(), mount.SubPath) // which the kubelet makes
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		places = append(places, mount.MountPath, folder)
	}
	replace := strings.NewReplacer(places...)
	var args, env []string
	for _, arg := range c.Args {
		args = append(args, replace.Replace(arg))
	}
	for _, v := range c.Env {
		value := v.Value
		if v.ValueFrom != nil {
			value = string(made[v.ValueFrom.SecretKeyRef.Name][v.ValueFrom.SecretKeyRef.Key])
		}
		env = append(env, v.Name+"="+value)
	}
	server := process.Start(t, process.Options{
		Name: "versitygw", Log: filepath.Join(t.TempDir(), "log"), Ready: "http://" + at + c.ReadinessProbe.HTTPGet.Path,
		Command: func() *exec.Cmd {
			cmd := exec.Command(program, args...)
			cmd.Env, cmd.Dir = env, "/"
			return cmd
		},
	})
	data := made[bootstrap.Secret(name)]
	return server, s3.Config{Endpoint: "http://" + at, AccessKey: string(data[bootstrap.AccessKey]), SecretKey: string(data[bootstrap.SecretKey])}
}

// TestServerConforms runs the server of the manifests. It is a store as Koldun needs one.
func TestServerConforms(t *testing.T) {
	_, config := start(t, read(t))
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		bucket := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
		return func() objectstore.Store { return open(t, config, bucket) }
	})
}

// TestServerKeepsData kills the server, and starts it again with the volume.
func TestServerKeepsData(t *testing.T) {
	server, config := start(t, read(t))
	store := open(t, config, "models")
	if err := store.Put(t.Context(), "a/b", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	before, err := store.Stat(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
	server.Run()
	if after, err := store.Stat(t.Context(), "a/b"); err != nil || after.Size != 4 || after.ETag == "" || after.ETag != before.ETag {
		t.Errorf("after a restart Stat = %+v, %v, before it was %+v", after, err, before)
	}
}

// TestServerRefusesOthers asks without credentials, and with wrong ones.
func TestServerRefusesOthers(t *testing.T) {
	_, config := start(t, read(t))
	if err := open(t, config, "models").Put(t.Context(), "a", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	wrong := config
	wrong.SecretKey = "wrong"
	for what, c := range map[string]s3.Config{"a wrong key": wrong, "no credentials": {Endpoint: config.Endpoint, Anonymous: true}} {
		store, err := s3.Open(t.Context(), "models", "", c)
		if err == nil {
			_, err = store.Stat(t.Context(), "a")
		}
		if !fault.Is(err, fault.Denied) {
			t.Errorf("with %s: %v, want an error of kind Denied", what, err)
		}
	}
}

// open opens a bucket, which it creates if it does not exist.
func open(t *testing.T, config s3.Config, bucket string) objectstore.Store {
	t.Helper()
	client, err := s3.NewClient(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil && !strings.Contains(err.Error(), "BucketAlreadyOwnedByYou") {
		t.Fatal(err)
	}
	store, err := s3.New(client, bucket, "")
	if err != nil {
		t.Fatal(err)
	}
	return store
}
