package dir_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
)

func openDir(t *testing.T, path string) objectstore.Store {
	t.Helper()
	s, err := dir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Symbolic links may lead anywhere inside the root, but not out of it.
func TestLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for path, body := range map[string]string{outside + "/secret": "s", dir + "/blobs": "in"} {
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"file": outside + "/secret", "folder": outside, "inside": "blobs", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := openDir(t, dir)
	for name, want := range map[string]fault.Kind{"file": fault.Invalid, "folder/secret": fault.Invalid, "dangling": fault.NotFound, "inside": ""} {
		_, err := s.Stat(t.Context(), name)
		if fault.KindOf(err) != want {
			t.Errorf("Stat(%q) = %v, want %q", name, err, want)
		}
		_, err = s.Open(t.Context(), name, 0, -1)
		if fault.KindOf(err) != want {
			t.Errorf("Open(%q) = %v, want %q", name, err, want)
		}
	}
	if err := s.Put(t.Context(), "folder/new", []byte("x")); !fault.Is(err, fault.Invalid) {
		t.Errorf("Put through a link = %v, want Invalid", err)
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 2 || list[0].Name != "blobs" || list[1].Name != "inside" {
		t.Errorf("List = %v, %v", list, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

func TestConflicts(t *testing.T) {
	s := openDir(t, t.TempDir())
	if err := s.Put(t.Context(), "a/b", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "a", []byte("x")); !fault.Is(err, fault.Conflict) {
		t.Errorf("a file over a folder: %v, want Conflict", err)
	}
	if err := s.Put(t.Context(), "a/b/c", []byte("x")); !fault.Is(err, fault.Conflict) {
		t.Errorf("a file below a file: %v, want Conflict", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openDir(t, file).List(t.Context(), ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("a root that is a file: %v, want Conflict", err)
	}
}

// A token belongs to the bytes that an upload wrote, not to the name.
func TestSealBreaks(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	body := make([]byte, 100)
	write := func() {
		u, err := s.Upload(t.Context(), "f", objectstore.UploadOptions{Size: 100, PartSize: 5 << 20, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if err := u.WritePart(t.Context(), 1, body); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Complete(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	token := func() string {
		o, err := s.Stat(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		return o.Token
	}
	path := filepath.Join(dir, "f")
	for name, change := range map[string]func() error{
		"Touched": func() error { return os.Chtimes(path, time.Now(), time.Now().Add(time.Second)) },
		"Replaced": func() error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path+".new", make([]byte, 100), 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(path+".new", info.ModTime(), info.ModTime()); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"Cut": func() error { return os.Truncate(path, 99) },
	} {
		t.Run(name, func(t *testing.T) {
			write()
			if got := token(); got != "t" {
				t.Fatalf("token %q", got)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if got := token(); got != "" {
				t.Errorf("token %q after the change", got)
			}
		})
	}
}

// An upload starts again when the files of an earlier process are damaged.
func TestDamagedUpload(t *testing.T) {
	for name, damage := range map[string]func(work string) error{
		"NoData":      func(w string) error { return os.Remove(w + "/data") },
		"NoParts":     func(w string) error { return os.Remove(w + "/parts") },
		"ShortData":   func(w string) error { return os.Truncate(w+"/data", 1) },
		"NoRecord":    func(w string) error { return os.Remove(w + "/upload.json") },
		"BrokenState": func(w string) error { return os.WriteFile(w+"/upload.json", []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openDir(t, dir)
			o := objectstore.UploadOptions{Size: 7, PartSize: 5 << 20, Token: "t"}
			u, err := s.Upload(t.Context(), "f", o)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.WritePart(t.Context(), 1, []byte("1234567")); err != nil {
				t.Fatal(err)
			}
			if err := u.Close(); err != nil {
				t.Fatal(err)
			}
			works, err := filepath.Glob(dir + "/.koldun/*")
			if err != nil || len(works) != 1 {
				t.Fatal(works, err)
			}
			if err := damage(works[0]); err != nil {
				t.Fatal(err)
			}
			u, err = s.Upload(t.Context(), "f", o)
			if err != nil {
				t.Fatal(err)
			}
			if name != "NoParts" && len(u.Stored()) != 0 {
				t.Errorf("parts %v of a damaged upload", u.Stored())
			}
			if err := u.WritePart(t.Context(), 1, []byte("7654321")); err != nil {
				t.Fatal(err)
			}
			if _, err := u.Complete(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// NFS has no locks of folders that other machines see: what is locked is a regular
// file that is open for writing.
func TestLockIsOfAFile(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	unlock, err := s.(objectstore.Locker).TryLock(t.Context())
	if err != nil || unlock == nil {
		t.Fatal("cannot lock:", err)
	}
	u, err := s.Upload(t.Context(), "f", objectstore.UploadOptions{Size: 1, PartSize: 5 << 20, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	locks := func() []string {
		t.Helper()
		found, err := filepath.Glob(dir + "/.koldun/*/lock")
		if err != nil {
			t.Fatal(err)
		}
		return append(found, filepath.Join(dir, ".koldun/lock"))
	}
	if n := len(locks()); n != 2 {
		t.Fatalf("%d locks, want those of the folder and the upload", n)
	}
	for _, name := range locks() {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			t.Errorf("%s is not locked", name)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(locks()); n != 1 {
		t.Errorf("%d locks after the upload, want that of the folder", n)
	}
	old := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".koldun/lock"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.AbortUploads(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if again, err := s.(objectstore.Locker).TryLock(t.Context()); again != nil || err != nil {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
}

// A pipe is not an object, and opening it does not block.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openDir(t, dir)
	if _, err := s.Open(t.Context(), "pipe", 0, -1); !fault.Is(err, fault.NotFound) {
		t.Errorf("Open = %v, want NotFound", err)
	}
	if _, err := s.Stat(t.Context(), "pipe"); !fault.Is(err, fault.NotFound) {
		t.Errorf("Stat = %v, want NotFound", err)
	}
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v", list, err)
	}
}
