package s3_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

// answering is a store whose service answers everything alike.
func answering(t *testing.T, status int, code string) (objectstore.Store, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		if code == "" {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `<Error><Code>`+code+`</Code><Message>said so</Message></Error>`)
	}))
	t.Cleanup(srv.Close)
	s, err := s3.Open(t.Context(), "bucket", "p", s3.Config{Endpoint: srv.URL, AccessKey: "a", SecretKey: "b"})
	if err != nil {
		t.Fatal(err)
	}
	return s, &n
}

func TestAnswersBecomeFaults(t *testing.T) {
	cases := map[string]struct {
		status int
		code   string
		want   fault.Kind
		tries  int64
	}{
		"NoKey":       {404, "NoSuchKey", fault.NotFound, 1},
		"NoBucket":    {404, "NoSuchBucket", fault.NotFound, 1},
		"BareMissing": {404, "", fault.NotFound, 1},
		"Denied":      {403, "AccessDenied", fault.Denied, 1},
		"BareDenied":  {403, "", fault.Denied, 1},
		"WrongKey":    {403, "InvalidAccessKeyId", fault.Denied, 1},
		"WrongSecret": {403, "SignatureDoesNotMatch", fault.Denied, 1},
		"Expired":     {400, "ExpiredToken", fault.Denied, 1},
		"ReadOnly":    {405, "MethodNotAllowed", fault.Denied, 1},
		"Full":        {507, "InsufficientStorage", fault.Quota, 1},
		"BareFull":    {507, "", fault.Quota, 1},
		"Quota":       {403, "QuotaExceeded", fault.Quota, 1},
		"Busy":        {409, "OperationAborted", fault.Conflict, 1},
		"NoUpload":    {404, "NoSuchUpload", fault.Conflict, 1},
		"TooLarge":    {400, "EntityTooLarge", fault.Invalid, 1},
		"Elsewhere":   {301, "PermanentRedirect", fault.Invalid, 1},
		"Malformed":   {400, "InvalidArgument", fault.Invalid, 1},
		"SlowDown":    {503, "SlowDown", fault.Transient, 3},
		"Internal":    {500, "InternalError", fault.Transient, 3},
		"BareGateway": {502, "", fault.Transient, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := answering(t, c.status, c.code)
			err := s.Put(t.Context(), "f", []byte("x"))
			if got := fault.KindOf(err); got != c.want {
				t.Errorf("Put = %v (%s), want %s", err, got, c.want)
			}
			names := "s3://bucket/p/f"
			if name == "NoBucket" {
				names = `bucket "bucket": it does not exist`
			}
			if !strings.Contains(err.Error(), names) {
				t.Errorf("error %v does not name %s", err, names)
			}
			if n.Load() != c.tries {
				t.Errorf("%d requests, want %d", n.Load(), c.tries)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	s, err := s3.Open(t.Context(), "bucket", "", s3.Config{Endpoint: "http://127.0.0.1:1", AccessKey: "a", SecretKey: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stat(t.Context(), "f"); !fault.Is(err, fault.Transient) {
		t.Errorf("Stat = %v, want Transient", err)
	}
}

func TestAuthority(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := t.TempDir() + "/ca.pem"
	body := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, body, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(file string) error {
		s, err := s3.Open(t.Context(), "bucket", "", s3.Config{Endpoint: srv.URL, AccessKey: "a", SecretKey: "b", CAFile: file})
		if err != nil {
			return err
		}
		_, err = s.Stat(t.Context(), "f")
		return err
	}
	if err := open(ca); !fault.Is(err, fault.NotFound) || hits.Load() == 0 {
		t.Errorf("with its authority: %v", err)
	}
	if err := open(""); !fault.Is(err, fault.Denied) {
		t.Errorf("without its authority: %v, want Denied", err)
	}
	empty := t.TempDir() + "/empty"
	if err := os.WriteFile(empty, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, t.TempDir() + "/missing"} {
		if err := open(file); !fault.Is(err, fault.Invalid) {
			t.Errorf("with file %q: %v, want Invalid", file, err)
		}
	}
}

func TestConfigFromEnv(t *testing.T) {
	env := map[string]string{
		"AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_S3": " http://s3 ", "AWS_DEFAULT_REGION": "r",
		"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c", "AWS_CA_BUNDLE": "/ca", "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
		"KOLDUN_S3_ADDRESSING": "virtual",
	}
	got := s3.ConfigFromEnv(func(k string) string { return env[k] })
	want := s3.Config{Endpoint: "http://s3", Region: "r", AccessKey: "a", SecretKey: "b", SessionToken: "c", CAFile: "/ca", Addressing: "virtual", PlainParts: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	written := got.Env()
	if diff := cmp.Diff(want, s3.ConfigFromEnv(func(k string) string { return string(written[k]) })); diff != "" {
		t.Errorf("written and read again: %s", diff)
	}
}

// Of several stores in one bucket each keeps to its prefix.
func TestPrefixesAreApart(t *testing.T) {
	b := s3test.New(t)
	one, two, all := b.Store(t, "m"), b.Store(t, "m2"), b.Store(t, "")
	for _, s := range []objectstore.Store{one, two} {
		if err := s.Put(t.Context(), "f", []byte(s.URL())); err != nil {
			t.Fatal(err)
		}
		u, err := s.Upload(t.Context(), "g", objectstore.UploadOptions{Size: 1, PartSize: 5 << 20, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.AbortUploads(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := b.Uploads(t); n != 1 {
		t.Errorf("%d uploads are left, want the other prefix's", n)
	}
	list, err := one.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Name != "f" {
		t.Errorf("List = %v, %v", list, err)
	}
	list, err = all.List(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list {
		if !strings.Contains(o.Name, objectstore.WorkDir) {
			names = append(names, o.Name)
		}
	}
	if diff := cmp.Diff([]string{"m/f", "m2/f"}, names); diff != "" {
		t.Error(diff)
	}
}

// An upload that was begun but not recorded, since the process died in
// between, is found by the record before it.
func TestUnrecordedUploadGoes(t *testing.T) {
	b := s3test.New(t)
	s := b.Store(t, "m")
	o := objectstore.UploadOptions{Size: 1, PartSize: 5 << 20, Token: "t"}
	if _, err := s.Upload(t.Context(), "f", o); err != nil {
		t.Fatal(err)
	}
	// The same upload once more, as if its number had never been written.
	if _, err := b.Client.CreateMultipartUpload(context.Background(), &awss3.CreateMultipartUploadInput{Bucket: &b.Name, Key: aws.String("m/f")}); err != nil {
		t.Fatal(err)
	}
	if n := b.Uploads(t); n != 2 {
		t.Fatalf("%d uploads, want 2", n)
	}
	o.Token = "other"
	u, err := s.Upload(t.Context(), "f", o)
	if err != nil {
		t.Fatal(err)
	}
	if n := b.Uploads(t); n != 1 {
		t.Errorf("%d uploads after a new one was begun, want 1", n)
	}
	if err := u.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.Uploads(t); n != 0 {
		t.Errorf("%d uploads after the abort", n)
	}
}

// A service that stores a part after its upload was aborted has the upload again: an
// abort ends when none is left, or says that another process writes.
func TestUploadThatComesBackGoes(t *testing.T) {
	for name, c := range map[string]struct {
		back int32 // times
		want fault.Kind
	}{
		"Twice":  {2, ""},
		"Always": {1 << 30, fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := s3test.New(t)
			var aborts atomic.Int32
			front := s3test.Front(t, b.Config, func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodDelete || !r.URL.Query().Has("uploadId") || aborts.Add(1) > c.back {
					return false
				}
				if _, err := b.Client.CreateMultipartUpload(context.Background(), &awss3.CreateMultipartUploadInput{Bucket: &b.Name, Key: aws.String("m/f")}); err != nil {
					t.Error(err)
				}
				return false
			})
			s, err := s3.Open(t.Context(), b.Name, "m", front)
			if err != nil {
				t.Fatal(err)
			}
			u, err := s.Upload(t.Context(), "f", objectstore.UploadOptions{Size: 1, PartSize: 5 << 20, Token: "t"})
			if err != nil {
				t.Fatal(err)
			}
			err = u.Abort(t.Context())
			if c.want != "" {
				if !fault.Is(err, c.want) {
					t.Errorf("Abort = %v, want %s", err, c.want)
				}
				return
			}
			if n := b.Uploads(t); err != nil || n != 0 {
				t.Errorf("Abort = %v, and %d uploads are left", err, n)
			}
		})
	}
}
