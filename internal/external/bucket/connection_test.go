package bucket_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// A model is a bucket with a connection of temporary credentials, as the Secret of a
// Model's pods holds it.
type model struct {
	t      *testing.T
	bucket *s3test.Bucket
	sts    *s3test.STS
	client *bucket.Client
	spec   bucket.Spec
}

func newModel(t *testing.T, life time.Duration, access ...bucket.Access) *model {
	t.Helper()
	m := &model{t: t, bucket: s3test.New(t), sts: s3test.StartSTS(t)}
	cfg := m.bucket.Config
	cfg.STS = s3store.STS{Endpoint: m.sts.Endpoint, Life: life}
	m.client = bucket.New(m.bucket.Client, cfg)
	m.spec = bucket.Spec{BucketName: m.bucket.Name, Access: access, Owner: external.Owner{Namespace: "ns"}}
	return m
}

// observe observes the bucket, and keeps the Secret as a controller does.
func (m *model) observe() {
	m.t.Helper()
	o, err := m.client.Observe(m.t.Context(), m.spec)
	if err != nil {
		m.t.Fatal(err)
	}
	if !o.Status.TemporaryCredentials {
		m.t.Fatal("the credentials are not temporary")
	}
	m.spec.Stored = o.Connection
}

// store opens a folder of the bucket as a pod does.
func (m *model) store(bucket, prefix string) objectstore.Store {
	m.t.Helper()
	s, err := s3store.Open(m.t.Context(), bucket, prefix, s3store.ConfigFromEnv(func(key string) string { return string(m.spec.Stored[key]) }))
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// TestCredentialsOfAModel attacks other models with the credentials of the pods of one.
func TestCredentialsOfAModel(t *testing.T) {
	m := newModel(t, time.Hour, bucket.Access{Prefix: "source/own", Write: true}, bucket.Access{Prefix: "converted/own"})
	for _, folder := range []string{"source/own", "source/own-more", "source/other", "converted/own"} {
		if err := m.bucket.Store(t, folder).Put(t.Context(), "weights", []byte("genuine")); err != nil {
			t.Fatal(err)
		}
	}
	other := s3test.New(t)
	if err := other.Store(t, "source/own").Put(t.Context(), "weights", []byte("genuine")); err != nil {
		t.Fatal(err)
	}
	m.observe()
	for key, value := range m.spec.Stored {
		if strings.Contains(string(value), s3test.SecretKey) || strings.Contains(string(value), s3test.AccessKey+`"`) || key == names.EnvS3AccessKey {
			t.Errorf("key %s of the Secret holds credentials that last", key)
		}
	}
	for name, c := range map[string]struct {
		bucket, prefix string
		read, write    bool
	}{
		"Source":      {m.bucket.Name, "source/own", true, true},
		"Converted":   {m.bucket.Name, "converted/own", true, false},
		"Sibling":     {m.bucket.Name, "source/own-more", false, false},
		"Other":       {m.bucket.Name, "source/other", false, false},
		"Whole":       {m.bucket.Name, "", false, false},
		"OtherBucket": {other.Name, "source/own", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := m.store(c.bucket, c.prefix)
			may := func(what string, want bool, err error) {
				t.Helper()
				if want && err != nil || !want && !fault.Is(err, fault.Denied) {
					t.Errorf("%s: %v, want it allowed: %v", what, err, want)
				}
			}
			_, err := s.List(t.Context(), "")
			may("list", c.read, err)
			r, err := s.Open(t.Context(), "weights", 0, -1)
			may("read", c.read, err)
			if err == nil {
				_ = r.Close()
			}
			_, err = s.Stat(t.Context(), "weights")
			may("stat", c.read, err)
			if _, err = s.Stat(t.Context(), "missing"); c.read && !fault.Is(err, fault.NotFound) {
				t.Errorf("stat of nothing: %v, want NotFound", err)
			}
			may("put", c.write, s.Put(t.Context(), "weights", []byte("poison")))
			u, err := s.Upload(t.Context(), "more", objectstore.UploadOptions{Size: 1, PartSize: 5 << 20, Token: "t"})
			may("upload", c.write, err)
			if err == nil {
				err = u.WritePart(t.Context(), 1, []byte("x"))
				may("part", c.write, err)
				_, err = u.Complete(t.Context())
				may("complete", c.write, err)
			}
			may("remove", c.write, s.Remove(t.Context(), "weights"))
		})
	}
}

// TestCredentialsAreRenewed reads through a file that holds short-lived credentials, as
// the volume of a Secret does, for longer than they last.
func TestCredentialsAreRenewed(t *testing.T) {
	const life = 3 * time.Second
	m := newModel(t, life)
	m.observe()
	if m.observe(); m.sts.Calls() != 1 {
		t.Fatalf("credentials were made %d times, want once in half of their life", m.sts.Calls())
	}
	if err := m.bucket.Store(t, "").Put(t.Context(), "weights", []byte("genuine")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "s3.json")
	write := func() {
		if err := os.WriteFile(file, m.spec.Stored[names.EnvS3Credentials], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	pod, err := s3store.Open(t.Context(), m.bucket.Name, "", s3store.Config{Endpoint: m.bucket.Config.Endpoint, Credentials: file})
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(2 * life)
	waittest.Until(t, "the end of the second credentials", func() bool {
		m.observe()
		write()
		if _, err := pod.Stat(t.Context(), "weights"); err != nil {
			t.Fatalf("after %d credentials: %v", m.sts.Calls(), err)
		}
		return time.Now().After(end)
	})
	if m.sts.Calls() < 3 {
		t.Errorf("credentials were made %d times in two lives", m.sts.Calls())
	}
	// Nothing renews them any more.
	waittest.Until(t, "the refusal of credentials that ended", func() bool {
		_, err := pod.Stat(t.Context(), "weights")
		return fault.Is(err, fault.Denied) && strings.Contains(err.Error(), "nothing has renewed them")
	})
}

// TestForeignCredentials finds others in the Secret than those of the spec.
func TestForeignCredentials(t *testing.T) {
	m := newModel(t, time.Hour, bucket.Access{Prefix: "source/own", Write: true})
	m.observe()
	held := string(m.spec.Stored[names.EnvS3Credentials])
	for name, change := range map[string]func(){
		"Less":    func() { m.spec.Access = []bucket.Access{{Prefix: "source/own"}} },
		"Damaged": func() { m.spec.Stored = map[string][]byte{names.EnvS3Credentials: []byte("{}")} },
		"None":    func() { m.spec.Stored = nil },
	} {
		change()
		m.observe()
		if now := string(m.spec.Stored[names.EnvS3Credentials]); now == held {
			t.Errorf("%s: the credentials stay", name)
		} else {
			held = now
		}
	}
	m.spec.Access = []bucket.Access{{Prefix: "source/*"}}
	if _, err := m.client.Observe(t.Context(), m.spec); !fault.Is(err, fault.Invalid) {
		t.Errorf("a folder that stands for others: %v, want an error of kind Invalid", err)
	}
}

// TestOtherCredentialsLeave switches between credentials that last and temporary ones:
// the Secret must keep neither beside the other.
func TestOtherCredentialsLeave(t *testing.T) {
	m := newModel(t, time.Hour)
	lasting := bucket.New(m.bucket.Client, m.bucket.Config)
	for _, c := range []struct {
		client *bucket.Client
		leaves []string
	}{
		{lasting, nil},
		{m.client, []string{names.EnvS3AccessKey, names.EnvS3SecretKey}},
		{lasting, []string{names.EnvS3Credentials}},
	} {
		o, err := c.client.Observe(t.Context(), m.spec)
		if err != nil {
			t.Fatal(err)
		}
		m.spec.Stored = map[string][]byte{}
		left := 0
		for key, value := range o.Connection {
			if value != nil {
				m.spec.Stored[key] = value
			} else if left++; !slices.Contains(c.leaves, key) {
				t.Errorf("key %s leaves the Secret", key)
			}
		}
		if left != len(c.leaves) {
			t.Errorf("%d keys leave the Secret, want %v", left, c.leaves)
		}
	}
}

// TestRefusedAssumeRole has an STS refuse to make credentials.
func TestRefusedAssumeRole(t *testing.T) {
	m := newModel(t, time.Hour)
	cfg := m.bucket.Config
	cfg.STS, cfg.SecretKey = s3store.STS{Endpoint: m.sts.Endpoint, Life: time.Hour}, "wrong"
	_, err := bucket.New(m.bucket.Client, cfg).Observe(t.Context(), m.spec)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "cannot get temporary credentials from the STS API at "+m.sts.Endpoint) {
		t.Errorf("got %v", err)
	}
}

// TestFolderOfTheNamespace asks for credentials as a namespace that has one folder in all
// buckets.
func TestFolderOfTheNamespace(t *testing.T) {
	m := newModel(t, time.Hour)
	cfg := m.bucket.Config
	cfg.STS, cfg.Bound = s3store.STS{Endpoint: m.sts.Endpoint, Life: time.Hour}, &s3store.Bound{Folder: "ns", Shared: []string{"platform"}}
	m.client = bucket.New(m.bucket.Client, cfg)
	m.observe() // without a list of folders
	if err := m.store(m.bucket.Name, "ns").Put(t.Context(), "weights", []byte("own")); err != nil {
		t.Errorf("its own folder: %v", err)
	}
	if err := m.store(m.bucket.Name, "other").Put(t.Context(), "weights", []byte("poison")); !fault.Is(err, fault.Denied) {
		t.Errorf("another one's folder: %v, want a refusal", err)
	}
	for name, list := range map[string][]bucket.Access{
		"Other": {{Prefix: "other"}}, "Whole": {{}}, "Shared": {{Prefix: "platform", Write: true}}, "OtherBucket": {{Prefix: "ns"}, {Bucket: "more", Prefix: "other"}},
	} {
		m.spec.Access = list
		o, err := m.client.Observe(t.Context(), m.spec)
		if err != nil || o.Ready || o.Connection != nil || o.Status.NamespaceFolder != "ns" || !strings.Contains(o.Message, `it may use the folders in "ns"`) {
			t.Errorf("%s: ready %v, %d keys, folder %q, %q, %v", name, o.Ready, len(o.Connection), o.Status.NamespaceFolder, o.Message, err)
		}
	}
	m.spec.Access = []bucket.Access{{Prefix: "ns/source", Write: true}, {Prefix: "platform/converted"}}
	if o, err := m.client.Observe(t.Context(), m.spec); err != nil || !o.Ready {
		t.Errorf("its own and a shared folder: ready %v, %q, %v", o.Ready, o.Message, err)
	}
}
