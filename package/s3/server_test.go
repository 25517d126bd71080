package s3_test

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storetest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// TestServerConforms runs the server of the manifests. It is a store as Koldun needs one.
func TestServerConforms(t *testing.T) {
	config := start(t, read(t)).platform()
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		bucket := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
		return func() objectstore.Store { return open(t, config, bucket) }
	})
}

// TestServerConformsForPods is the same with temporary credentials, which have nothing but a
// folder.
func TestServerConformsForPods(t *testing.T) {
	w := start(t, read(t))
	secret := w.observe(t, "team-a", nil)
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		return func() objectstore.Store { return opened(t, pod(secret), "team-a/"+t.Name()) }
	})
}

// TestServerKeepsData kills the server, and starts it again with the volume. Pods go on with
// the credentials that they have.
func TestServerKeepsData(t *testing.T) {
	w := start(t, read(t))
	store := opened(t, pod(w.observe(t, "team-a", nil)), "team-a")
	if err := store.Put(t.Context(), "a/b", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	before, err := store.Stat(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	w.Kill()
	w.Run()
	if after, err := store.Stat(t.Context(), "a/b"); err != nil || after.Size != 4 || after.ETag == "" || after.ETag != before.ETag {
		t.Errorf("after a restart Stat = %+v, %v, before it was %+v", after, err, before)
	}
}

// TestChangedKey changes the key of the account, which ends all temporary credentials at
// once. The Provider replaces those of pods before half of their life is over.
func TestChangedKey(t *testing.T) {
	w := start(t, read(t))
	secret := w.observe(t, "team-a", nil)
	if again := w.observe(t, "team-a", secret); string(again[names.EnvS3Credentials]) != string(secret[names.EnvS3Credentials]) {
		t.Error("the Provider replaces credentials that are good")
	}
	if err := opened(t, pod(secret), "team-a").Put(t.Context(), "x", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	w.credentials()[bootstrap.SecretKey] = []byte(strings.Repeat("another key", 5))
	w.Kill()
	w.Run()
	if _, err := opened(t, pod(secret), "team-a").List(t.Context(), ""); !fault.Is(err, fault.Denied) {
		t.Errorf("credentials of the key before: %v, want an error of kind Denied", err)
	}
	if _, err := opened(t, pod(w.observe(t, "team-a", secret)), "team-a").Stat(t.Context(), "x"); err != nil {
		t.Errorf("credentials of the new key: %v", err)
	}
}

// TestNewCertificate removes the Secret of the certificate, and has the Job run again. The
// server takes the new one without a restart.
func TestNewCertificate(t *testing.T) {
	m := read(t)
	w := start(t, m)
	serial := func() string {
		c, err := (&tls.Dialer{Config: w.trust(t)}).DialContext(waittest.Context(t), "tcp", strings.TrimPrefix(w.url(), "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := serial()
	delete(w.made, plan.Secret(bootstrap.TLS))
	w.bootstrap(t)
	w.mount(t, m)
	waittest.Until(t, "the new certificate", func() bool { return serial() != before })
}

// TestServerRefusesOthers asks without credentials, with wrong ones, without the authority,
// and without TLS.
func TestServerRefusesOthers(t *testing.T) {
	w := start(t, read(t))
	config := w.platform()
	if err := open(t, config, models).Put(t.Context(), "a", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	wrong, untrusted := config, config
	wrong.SecretKey, untrusted.CA = "wrong", ""
	for what, c := range map[string]s3.Config{
		"a wrong key": wrong, "no credentials": {Endpoint: config.Endpoint, CA: config.CA, Anonymous: true}, "no authority": untrusted,
	} {
		store, err := s3.Open(t.Context(), models, "", c)
		if err == nil {
			_, err = store.Stat(t.Context(), "a")
		}
		if !fault.Is(err, fault.Denied) {
			t.Errorf("with %s: %v, want an error of kind Denied", what, err)
		}
	}
	plain := strings.Replace(w.url(), "https:", "http:", 1) + read(t).container().ReadinessProbe.HTTPGet.Path
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := waittest.Client().Do(ask); err == nil {
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		t.Errorf("plain HTTP is answered with %s: %s", answer.Status, body)
	}
}

// open opens a bucket, which it creates if it does not exist.
func open(t *testing.T, config s3.Config, bucket string) objectstore.Store {
	t.Helper()
	client := clientOf(t, config)
	_, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)})
	if err != nil && !strings.Contains(err.Error(), "BucketAlreadyOwnedByYou") {
		t.Fatal(err)
	}
	store, err := s3.New(client, bucket, "")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// opened opens a folder of the bucket of all namespaces.
func opened(t *testing.T, config s3.Config, folder string) objectstore.Store {
	t.Helper()
	store, err := s3.Open(t.Context(), models, folder, config)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func clientOf(t *testing.T, config s3.Config) *awss3.Client {
	t.Helper()
	client, err := s3.NewClient(context.WithoutCancel(t.Context()), config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
