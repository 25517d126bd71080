package convert_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// A memStore is a store in memory with parts of any size, whose calls a test
// can make fail. Like S3 it cannot read parts back unless readBack is set.
type memStore struct {
	mu       sync.Mutex
	objects  map[string]memObject
	uploads  map[string]*memUpload
	readBack bool
	fail     func(call, name string) error // may be nil
	calls    map[string]int
	clock    int64
}

type memObject struct {
	body     []byte
	token    string
	modified time.Time
}

func newMemStore() *memStore {
	return &memStore{objects: map[string]memObject{}, uploads: map[string]*memUpload{}, calls: map[string]int{}}
}

// loadStore copies folders into a store.
func loadStore(tb testing.TB, dirs ...string) *memStore {
	tb.Helper()
	m := newMemStore()
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			tb.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				tb.Fatal(err)
			}
			m.set(e.Name(), b)
		}
	}
	return m
}

func (m *memStore) set(name string, body []byte) { m.put(name, body, "") }

func (m *memStore) put(name string, body []byte, token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	m.objects[name] = memObject{body: body, token: token, modified: time.Unix(m.clock, 0)}
}

func (m *memStore) get(name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[name].body
}

func (m *memStore) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

func (m *memStore) count(call string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[call]
}

func (m *memStore) call(ctx context.Context, call, name string) error {
	m.mu.Lock()
	m.calls[call]++
	fail := m.fail
	m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("cannot %s %q: %w", call, name, err)
	}
	if fail == nil {
		return nil
	}
	return fail(call, name)
}

func (m *memStore) URL() string { return fmt.Sprintf("s3://mem/%p", m) }

func (m *memStore) object(name string) (memObject, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return memObject{}, fault.Errorf(fault.NotFound, "there is no object %q", name)
	}
	return o, nil
}

func (m *memStore) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	if err := m.call(ctx, "stat", name); err != nil {
		return objectstore.Object{}, err
	}
	o, err := m.object(name)
	return objectstore.Object{Name: name, Size: int64(len(o.body)), Modified: o.modified, Token: o.token}, err
}

func (m *memStore) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := m.call(ctx, "open", name); err != nil {
		return nil, err
	}
	o, err := m.object(name)
	if err != nil {
		return nil, err
	}
	if offset < 0 || offset > int64(len(o.body)) {
		return nil, fault.Errorf(fault.Invalid, "offset %d of %q", offset, name)
	}
	body := o.body[offset:]
	if length >= 0 && length <= int64(len(body)) {
		return io.NopCloser(bytes.NewReader(body[:length])), nil
	}
	if length < 0 {
		return io.NopCloser(bytes.NewReader(body)), nil
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(body), endsEarly{})), nil
}

type endsEarly struct{}

func (endsEarly) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (m *memStore) List(ctx context.Context, prefix string) ([]objectstore.Object, error) {
	if err := m.call(ctx, "list", prefix); err != nil {
		return nil, err
	}
	var list []objectstore.Object
	for _, name := range m.names() {
		if o, err := m.object(name); err == nil && strings.HasPrefix(name, prefix) {
			list = append(list, objectstore.Object{Name: name, Size: int64(len(o.body)), Modified: o.modified})
		}
	}
	return list, nil
}

func (m *memStore) Put(ctx context.Context, name string, body []byte) error {
	if err := m.call(ctx, "put", name); err != nil {
		return err
	}
	m.set(name, bytes.Clone(body))
	return nil
}

func (m *memStore) Remove(ctx context.Context, name string) error {
	if err := m.call(ctx, "remove", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

func (m *memStore) AbortUploads(context.Context, func(string) bool) error { return nil }

func (m *memStore) Upload(ctx context.Context, name string, o objectstore.UploadOptions) (objectstore.Upload, error) {
	if err := m.call(ctx, "upload", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if u, ok := m.uploads[name]; ok && u.o == o {
		return u, nil
	}
	u := &memUpload{store: m, name: name, o: o, parts: map[int][]byte{}}
	m.uploads[name] = u
	return u, nil
}

type memUpload struct {
	store *memStore
	name  string
	o     objectstore.UploadOptions

	parts map[int][]byte // guarded by store.mu, as is state
	state []byte
}

func (u *memUpload) Stored() map[int]int64 {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	m := map[int]int64{}
	for n, p := range u.parts {
		m[n] = int64(len(p))
	}
	return m
}

func (u *memUpload) State() []byte {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	return u.state
}

func (u *memUpload) SaveState(ctx context.Context, state []byte) error {
	if err := u.store.call(ctx, "save", u.name); err != nil {
		return err
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	u.state = bytes.Clone(state)
	return nil
}

func (u *memUpload) ReadPart(ctx context.Context, number int) (io.ReadCloser, error) {
	if err := u.store.call(ctx, "readpart", u.name); err != nil {
		return nil, err
	}
	if !u.store.readBack {
		return nil, fault.Errorf(fault.Unsupported, "parts cannot be read")
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	return io.NopCloser(bytes.NewReader(u.parts[number])), nil
}

func (u *memUpload) WritePart(ctx context.Context, number int, body []byte) error {
	if err := u.store.call(ctx, "write", u.name); err != nil {
		return err
	}
	if number < 1 || number > u.o.Parts() || int64(len(body)) != u.o.PartLen(number) {
		return fault.Errorf(fault.Invalid, "part %d of %d has %d bytes", number, u.o.Parts(), len(body))
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	u.parts[number] = bytes.Clone(body)
	return nil
}

func (u *memUpload) Complete(ctx context.Context) (objectstore.Object, error) {
	if err := u.store.call(ctx, "complete", u.name); err != nil {
		return objectstore.Object{}, err
	}
	var body []byte
	u.store.mu.Lock()
	for n := 1; n <= u.o.Parts(); n++ {
		body = append(body, u.parts[n]...)
	}
	delete(u.store.uploads, u.name)
	u.store.mu.Unlock()
	if int64(len(body)) != u.o.Size {
		return objectstore.Object{}, fault.Errorf(fault.Invalid, "parts are missing")
	}
	u.store.put(u.name, body, u.o.Token)
	return u.store.Stat(ctx, u.name)
}

func (u *memUpload) Abort(ctx context.Context) error {
	if err := u.store.call(ctx, "abort", u.name); err != nil {
		return err
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	delete(u.store.uploads, u.name)
	return nil
}

func (u *memUpload) Close() error { return nil }
