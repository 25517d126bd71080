// Package storetest is what every objectstore.Store must do, as a test.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
)

// Run tests a store. open gives the store of one root; called again with the
// same testing.T it gives a new handle of the same root, as another process
// would have.
func Run(t *testing.T, open func(t *testing.T) func() objectstore.Store) {
	tests := map[string]func(t *testing.T, open func() objectstore.Store){
		"Missing":         testMissing,
		"PutAndRead":      testPutAndRead,
		"Ranges":          testRanges,
		"List":            testList,
		"Remove":          testRemove,
		"Names":           testNames,
		"Upload":          testUpload,
		"UploadResumes":   testUploadResumes,
		"UploadRestarts":  testUploadRestarts,
		"UploadAborts":    testUploadAborts,
		"UploadIsHidden":  testUploadIsHidden,
		"UploadChecks":    testUploadChecks,
		"UploadReplaces":  testUploadReplaces,
		"TokenIsOfBytes":  testTokenIsOfBytes,
		"EmptyUpload":     testEmptyUpload,
		"Cancelled":       testCancelled,
		"ManyAtOnce":      testManyAtOnce,
		"AbortUploads":    testAbortUploads,
		"AbandonedUpload": testAbandonedUpload,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const part = 5 << 20

// content is n bytes that differ everywhere.
func content(n int, seed string) []byte {
	b := make([]byte, 0, n+32)
	sum := sha256.Sum256([]byte(seed))
	for len(b) < n {
		b = append(b, sum[:]...)
		sum = sha256.Sum256(sum[:])
	}
	return b[:n]
}

func read(t *testing.T, s objectstore.Store, name string, offset, length int64) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), name, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if got := fault.KindOf(err); got != kind {
		t.Errorf("error %v is of kind %q, want %q", err, got, kind)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testMissing(t *testing.T, open func() objectstore.Store) {
	s := open()
	_, err := s.Stat(t.Context(), "a/b")
	wantKind(t, err, fault.NotFound)
	_, err = s.Open(t.Context(), "a/b", 0, -1)
	wantKind(t, err, fault.NotFound)
	_, err = s.Open(t.Context(), "a/b", 0, 0)
	wantKind(t, err, fault.NotFound)
	must(t, s.Remove(t.Context(), "a/b"))
	list, err := s.List(t.Context(), "")
	must(t, err)
	if len(list) != 0 {
		t.Errorf("an empty store lists %v", list)
	}
	must(t, s.AbortUploads(t.Context(), nil))
	must(t, s.Put(t.Context(), "a/b", []byte("x")))
	_, err = s.Stat(t.Context(), "a")
	wantKind(t, err, fault.NotFound)
}

func testPutAndRead(t *testing.T, open func() objectstore.Store) {
	s := open()
	for _, body := range [][]byte{nil, []byte("one"), content(3<<20, "big"), []byte("two")} {
		must(t, s.Put(t.Context(), "dir/sub/file.json", body))
		o, err := s.Stat(t.Context(), "dir/sub/file.json")
		must(t, err)
		if o.Name != "dir/sub/file.json" || o.Size != int64(len(body)) || o.Modified.IsZero() || o.Token != "" {
			t.Errorf("Stat = %+v for %d bytes", o, len(body))
		}
		if got := read(t, s, "dir/sub/file.json", 0, -1); !bytes.Equal(got, body) {
			t.Errorf("read %d bytes back, want the %d written", len(got), len(body))
		}
	}
}

func testRanges(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(1000, "ranges")
	must(t, s.Put(t.Context(), "f", body))
	must(t, s.Put(t.Context(), "empty", nil))
	for _, r := range [][2]int64{{0, -1}, {0, 0}, {0, 1}, {0, 1000}, {1, -1}, {999, 1}, {999, -1}, {1000, -1}, {1000, 0}, {500, 250}} {
		end := r[0] + r[1]
		if r[1] < 0 {
			end = 1000
		}
		if got := read(t, s, "f", r[0], r[1]); !bytes.Equal(got, body[r[0]:end]) {
			t.Errorf("range %v gives %d bytes, want %d", r, len(got), end-r[0])
		}
	}
	if got := read(t, s, "empty", 0, -1); len(got) != 0 {
		t.Errorf("an empty object has %d bytes", len(got))
	}
	for _, offset := range []int64{-1, 1001, 1 << 40} {
		_, err := s.Open(t.Context(), "f", offset, -1)
		wantKind(t, err, fault.Invalid)
	}
	for _, r := range [][2]int64{{0, 1001}, {900, 101}, {1000, 1}} {
		f, err := s.Open(t.Context(), "f", r[0], r[1])
		must(t, err)
		if _, err := io.ReadAll(f); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("range %v beyond the end reads with error %v, want ErrUnexpectedEOF", r, err)
		}
		must(t, f.Close())
	}
}

func testList(t *testing.T, open func() objectstore.Store) {
	s := open()
	names := []string{"a.txt", "a/b", "a/c/d", "a0", "b", "üñí/✓ +&?%41"}
	for _, n := range names {
		must(t, s.Put(t.Context(), n, []byte(n)))
	}
	cases := map[string][]string{
		"":        names,
		"a":       {"a.txt", "a/b", "a/c/d", "a0"},
		"a/":      {"a/b", "a/c/d"},
		"a/c/d":   {"a/c/d"},
		"a/c/d/e": nil,
		"zz":      nil,
		"../":     nil,
		"üñí/":    {"üñí/✓ +&?%41"},
	}
	for prefix, want := range cases {
		list, err := s.List(t.Context(), prefix)
		must(t, err)
		var got []string
		for _, o := range list {
			got = append(got, o.Name)
			if o.Size != int64(len(o.Name)) || o.Modified.IsZero() {
				t.Errorf("List(%q) describes %+v", prefix, o)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("List(%q) (-want +got):\n%s", prefix, diff)
		}
	}
	if got := string(read(t, s, names[5], 0, -1)); got != names[5] {
		t.Errorf("object %q holds %q", names[5], got)
	}
}

func testRemove(t *testing.T, open func() objectstore.Store) {
	s := open()
	must(t, s.Put(t.Context(), "a/b/c", []byte("x")))
	must(t, s.Put(t.Context(), "a/d", []byte("x")))
	must(t, s.Remove(t.Context(), "a/b/c"))
	must(t, s.Remove(t.Context(), "a/b"))
	must(t, s.Remove(t.Context(), "a"))
	_, err := s.Stat(t.Context(), "a/b/c")
	wantKind(t, err, fault.NotFound)
	_, err = s.Stat(t.Context(), "a/d")
	must(t, err)
	must(t, s.Put(t.Context(), "a/b", []byte("a file where a folder was")))
}

func testNames(t *testing.T, open func() objectstore.Store) {
	s := open()
	bad := []string{"", ".", "..", "/", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", "./a", "a\\b", "a\x00b", objectstore.WorkDir, objectstore.WorkDir + "/x"}
	for _, name := range bad {
		_, err := s.Stat(t.Context(), name)
		wantKind(t, err, fault.Invalid)
		_, err = s.Open(t.Context(), name, 0, -1)
		wantKind(t, err, fault.Invalid)
		wantKind(t, s.Put(t.Context(), name, nil), fault.Invalid)
		wantKind(t, s.Remove(t.Context(), name), fault.Invalid)
		_, err = s.Upload(t.Context(), name, objectstore.UploadOptions{Size: 1, PartSize: part, Token: "t"})
		wantKind(t, err, fault.Invalid)
	}
	for _, name := range []string{"..a", "a..b/c", ".hidden", "a b", "-", "~", "con", strings.Repeat("n", 200)} {
		must(t, s.Put(t.Context(), name, []byte(name)))
		if got := string(read(t, s, name, 0, -1)); got != name {
			t.Errorf("object %q holds %q", name, got)
		}
	}
}

func upload(t *testing.T, s objectstore.Store, name string, body []byte, token string) objectstore.Upload {
	t.Helper()
	u, err := s.Upload(t.Context(), name, objectstore.UploadOptions{Size: int64(len(body)), PartSize: part, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func partOf(body []byte, n int) []byte { return body[(n-1)*part : min(len(body), n*part)] }

func complete(t *testing.T, u objectstore.Upload) objectstore.Object {
	t.Helper()
	o, err := u.Complete(t.Context())
	must(t, err)
	must(t, u.Close())
	return o
}

func testUpload(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(2*part+12345, "upload")
	u := upload(t, s, "models/x.safetensors", body, "sha256:abc")
	if len(u.Stored()) != 0 || u.State() != nil {
		t.Errorf("a new upload has parts %v and state %q", u.Stored(), u.State())
	}
	var wg sync.WaitGroup
	for n := 3; n >= 1; n-- {
		wg.Go(func() {
			if err := u.WritePart(t.Context(), n, partOf(body, n)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[int]int64{1: part, 2: part, 3: 12345}, u.Stored()); diff != "" {
		t.Errorf("Stored (-want +got):\n%s", diff)
	}
	o := complete(t, u)
	stat, err := open().Stat(t.Context(), "models/x.safetensors")
	must(t, err)
	if o.Size != int64(len(body)) || stat.Token != "sha256:abc" || o.Token != stat.Token || o.ETag != stat.ETag {
		t.Errorf("Complete = %+v, Stat = %+v", o, stat)
	}
	if got := read(t, s, "models/x.safetensors", 0, -1); !bytes.Equal(got, body) {
		t.Error("the uploaded bytes differ")
	}
	if got := read(t, s, "models/x.safetensors", part-7, 20); !bytes.Equal(got, body[part-7:part+13]) {
		t.Error("a range over two parts differs")
	}
}

func testUploadResumes(t *testing.T, open func() objectstore.Store) {
	body := content(2*part+1, "resume")
	u := upload(t, open(), "f", body, "t1")
	must(t, u.WritePart(t.Context(), 2, partOf(body, 2)))
	must(t, u.SaveState(t.Context(), []byte{0, 1, 255}))
	must(t, u.SaveState(t.Context(), []byte{9, 8, 7}))
	must(t, u.Close())

	u = upload(t, open(), "f", body, "t1")
	if diff := cmp.Diff(map[int]int64{2: part}, u.Stored()); diff != "" {
		t.Errorf("Stored after resuming (-want +got):\n%s", diff)
	}
	if !bytes.Equal(u.State(), []byte{9, 8, 7}) {
		t.Errorf("State after resuming = %v", u.State())
	}
	r, err := u.ReadPart(t.Context(), 2)
	if err == nil {
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, partOf(body, 2)) {
			t.Errorf("the stored part reads back different, error %v", err)
		}
		must(t, r.Close())
	} else {
		wantKind(t, err, fault.Unsupported)
	}
	must(t, u.WritePart(t.Context(), 1, partOf(body, 1)))
	must(t, u.WritePart(t.Context(), 3, partOf(body, 3)))
	must(t, u.WritePart(t.Context(), 2, partOf(body, 2))) // again, over what is there
	complete(t, u)
	if got := read(t, open(), "f", 0, -1); !bytes.Equal(got, body) {
		t.Error("the resumed bytes differ")
	}
}

func testUploadRestarts(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part+1, "restart")
	for _, other := range []objectstore.UploadOptions{
		{Size: part + 1, PartSize: part, Token: "other"},
		{Size: part + 2, PartSize: part, Token: "t"},
		{Size: part + 1, PartSize: part + 1, Token: "t"},
	} {
		u, err := s.Upload(t.Context(), "f", other)
		must(t, err)
		must(t, u.WritePart(t.Context(), 1, content(int(other.PartLen(1)), "wrong")))
		must(t, u.SaveState(t.Context(), []byte("wrong")))
		must(t, u.Close())

		u = upload(t, s, "f", body, "t")
		if len(u.Stored()) != 0 || u.State() != nil {
			t.Errorf("after %+v the new upload has parts %v and state %q", other, u.Stored(), u.State())
		}
		must(t, u.WritePart(t.Context(), 1, partOf(body, 1)))
		must(t, u.WritePart(t.Context(), 2, partOf(body, 2)))
		complete(t, u)
		if got := read(t, s, "f", 0, -1); !bytes.Equal(got, body) {
			t.Error("bytes of the dropped upload are mixed in")
		}
	}
}

func testUploadAborts(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part+1, "abort")
	u := upload(t, s, "f", body, "t")
	must(t, u.WritePart(t.Context(), 1, partOf(body, 1)))
	must(t, u.Abort(t.Context()))
	must(t, u.Close())
	_, err := s.Stat(t.Context(), "f")
	wantKind(t, err, fault.NotFound)
	u = upload(t, s, "f", body, "t")
	if len(u.Stored()) != 0 {
		t.Errorf("parts %v outlive the abort", u.Stored())
	}
	must(t, u.Abort(t.Context()))
}

func testUploadIsHidden(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part, "hidden")
	u := upload(t, s, "f", body, "t")
	must(t, u.WritePart(t.Context(), 1, body))
	must(t, u.SaveState(t.Context(), []byte("s")))
	_, err := s.Stat(t.Context(), "f")
	wantKind(t, err, fault.NotFound)
	list, err := s.List(t.Context(), "")
	must(t, err)
	if len(list) != 0 {
		t.Errorf("an unfinished upload is listed: %v", list)
	}
	complete(t, u)
	list, err = s.List(t.Context(), "")
	must(t, err)
	if len(list) != 1 || list[0].Name != "f" {
		t.Errorf("after the upload the store lists %v", list)
	}
}

func testUploadChecks(t *testing.T, open func() objectstore.Store) {
	s := open()
	for _, o := range []objectstore.UploadOptions{
		{Size: -1, PartSize: part, Token: "t"},
		{Size: 1, PartSize: 0, Token: "t"},
		{Size: 1, PartSize: part - 1, Token: "t"},
		{Size: 1, PartSize: 5<<30 + 1, Token: "t"},
		{Size: 10_000*part + 1, PartSize: part, Token: "t"},
		{Size: 1, PartSize: part},
		{Size: 1, PartSize: part, Token: "a\nb"},
		{Size: 1, PartSize: part, Token: strings.Repeat("t", 513)},
	} {
		_, err := s.Upload(t.Context(), "f", o)
		wantKind(t, err, fault.Invalid)
	}
	body := content(part+9, "checks")
	u := upload(t, s, "f", body, "t")
	wantKind(t, u.WritePart(t.Context(), 0, partOf(body, 1)), fault.Invalid)
	wantKind(t, u.WritePart(t.Context(), 3, partOf(body, 1)), fault.Invalid)
	wantKind(t, u.WritePart(t.Context(), 1, partOf(body, 1)[1:]), fault.Invalid)
	wantKind(t, u.WritePart(t.Context(), 2, partOf(body, 1)), fault.Invalid)
	must(t, u.WritePart(t.Context(), 2, partOf(body, 2)))
	_, err := u.Complete(t.Context())
	wantKind(t, err, fault.Invalid)
	must(t, u.WritePart(t.Context(), 1, partOf(body, 1)))
	complete(t, u)
}

func testUploadReplaces(t *testing.T, open func() objectstore.Store) {
	s := open()
	must(t, s.Put(t.Context(), "f", []byte("old")))
	body := content(part+1, "replace")
	u := upload(t, s, "f", body, "t")
	must(t, u.WritePart(t.Context(), 1, partOf(body, 1)))
	must(t, u.WritePart(t.Context(), 2, partOf(body, 2)))
	if got := string(read(t, s, "f", 0, -1)); got != "old" {
		t.Errorf("the old object changed before the upload is complete: %q", got)
	}
	complete(t, u)
	if got := read(t, s, "f", 0, -1); !bytes.Equal(got, body) {
		t.Error("the new object is not there")
	}
}

func testTokenIsOfBytes(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part, "token")
	u := upload(t, s, "f", body, "t")
	must(t, u.WritePart(t.Context(), 1, body))
	complete(t, u)
	must(t, s.Put(t.Context(), "f", content(part, "other")))
	o, err := s.Stat(t.Context(), "f")
	must(t, err)
	if o.Token != "" {
		t.Errorf("the object has token %q after it was replaced", o.Token)
	}
	u = upload(t, s, "f", body, "t")
	if len(u.Stored()) != 0 {
		t.Errorf("a completed upload still has parts %v", u.Stored())
	}
	must(t, u.Abort(t.Context()))
}

func testEmptyUpload(t *testing.T, open func() objectstore.Store) {
	s := open()
	u := upload(t, s, "f", nil, "t")
	must(t, u.WritePart(t.Context(), 1, nil))
	complete(t, u)
	o, err := s.Stat(t.Context(), "f")
	must(t, err)
	if o.Size != 0 || o.Token != "t" {
		t.Errorf("Stat = %+v", o)
	}
}

func testCancelled(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part, "cancel")
	must(t, s.Put(t.Context(), "f", body))
	u := upload(t, s, "g", body, "t")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := s.Open(ctx, "f", 0, -1)
	must(t, err)
	cancel()
	if _, err := io.Copy(io.Discard, r); err != nil { // what is buffered may still come
		wantKind(t, err, fault.Interrupted)
	}
	must(t, r.Close())
	_, err = s.Stat(ctx, "f")
	wantKind(t, err, fault.Interrupted)
	_, err = s.Open(ctx, "f", 0, -1)
	wantKind(t, err, fault.Interrupted)
	_, err = s.List(ctx, "")
	wantKind(t, err, fault.Interrupted)
	wantKind(t, s.Put(ctx, "f", nil), fault.Interrupted)
	wantKind(t, u.WritePart(ctx, 1, body), fault.Interrupted)
	_, err = s.Upload(ctx, "h", objectstore.UploadOptions{Size: 1, PartSize: part, Token: "t"})
	wantKind(t, err, fault.Interrupted)
	if o, err := s.Stat(t.Context(), "f"); err != nil || o.Size != part {
		t.Errorf("a cancelled Put changed the object: %+v, %v", o, err)
	}
	must(t, u.Abort(t.Context()))
}

func testManyAtOnce(t *testing.T, open func() objectstore.Store) {
	s := open()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			name := fmt.Sprintf("dir%d/f%d", i%2, i)
			for round := range 5 {
				body := content(1000+i*100+round, name)
				if err := s.Put(t.Context(), name, body); err != nil {
					t.Error(err)
					return
				}
				if got := read(t, s, name, 0, -1); !bytes.Equal(got, body) {
					t.Errorf("object %q differs", name)
				}
			}
		})
	}
	wg.Wait()
}

func testAbortUploads(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part, "stale")
	for _, name := range []string{"keep/f", "drop/f"} {
		u := upload(t, s, name, body, "t")
		must(t, u.WritePart(t.Context(), 1, body))
		must(t, u.Close())
	}
	must(t, s.AbortUploads(t.Context(), func(name string) bool { return name == "keep/f" }))
	for name, want := range map[string]int{"keep/f": 1, "drop/f": 0} {
		u := upload(t, s, name, body, "t")
		if got := len(u.Stored()); got != want {
			t.Errorf("upload of %q has %d parts, want %d", name, got, want)
		}
		must(t, u.Close())
	}
	must(t, s.AbortUploads(t.Context(), nil))
	u := upload(t, s, "keep/f", body, "t")
	if len(u.Stored()) != 0 {
		t.Errorf("AbortUploads(nil) leaves parts %v", u.Stored())
	}
	must(t, u.Abort(t.Context()))
}

// testAbandonedUpload drops an upload while its writer lives: the writer must
// learn of it, and the new upload must not be harmed.
func testAbandonedUpload(t *testing.T, open func() objectstore.Store) {
	s := open()
	body := content(part+1, "mine")
	first := upload(t, s, "f", body, "t")
	must(t, first.WritePart(t.Context(), 1, partOf(body, 1)))
	second, err := open().Upload(t.Context(), "f", objectstore.UploadOptions{Size: part, PartSize: part, Token: "other"})
	if err != nil { // the store knows that the first writer lives
		wantKind(t, err, fault.Conflict)
		must(t, first.WritePart(t.Context(), 2, partOf(body, 2)))
		complete(t, first)
		return
	}
	must(t, second.WritePart(t.Context(), 1, content(part, "theirs")))
	wantKind(t, first.WritePart(t.Context(), 2, partOf(body, 2)), fault.Conflict)
	complete(t, second)
	if got := read(t, s, "f", 0, -1); !bytes.Equal(got, content(part, "theirs")) {
		t.Error("bytes of the dropped upload are mixed in")
	}
}
