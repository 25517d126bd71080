package hubserver

import (
	"crypto/sha1" //nolint:gosec // the id that git gives a file
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"sync"
)

// branch is the only branch.
const branch = "main"

// lfsSize is the size in bytes from which every file is in LFS: git hosts refuse
// larger ones.
const lfsSize = 10 << 20

// lfsExt are the extensions of files that are in LFS at any size, a part of the
// hub's usual .gitattributes.
var lfsExt = map[string]bool{
	".safetensors": true, ".bin": true, ".gguf": true, ".pth": true, ".pt": true,
	".model": true, ".onnx": true, ".npz": true, ".h5": true, ".msgpack": true,
}

// A file is one file whose content was read.
type file struct {
	path   string // in the repository
	size   int64
	sha256 string
	oid    string // the SHA-1 git gives the content, or its LFS pointer
	stamp  stamp
}

func (f *file) lfs() bool { return lfsExt[path.Ext(f.path)] || f.size >= lfsSize }

// A repository is one folder at the time of the last scan.
type repository struct {
	name   string // in requests
	folder string // below the root
	commit string
	files  []*file // sorted by path
}

func (r *repository) find(name string) *file {
	i := sort.Search(len(r.files), func(i int) bool { return r.files[i].path >= name })
	if i < len(r.files) && r.files[i].path == name {
		return r.files[i]
	}
	return nil
}

// tree lists the folder below prefix.
func (r *repository) tree(prefix string, recursive bool) []treeEntry {
	entries := []treeEntry{}
	if prefix != "" {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	seen := map[string]bool{}
	for _, f := range r.files {
		rest, ok := strings.CutPrefix(f.path, prefix)
		if !ok {
			continue
		}
		for i, c := range rest {
			if dir := prefix + rest[:i]; c == '/' && !seen[dir] {
				seen[dir] = true
				sum := sha1.Sum([]byte("tree " + r.commit + dir)) //nolint:gosec // as an id
				entries = append(entries, treeEntry{Type: "directory", OID: hex.EncodeToString(sum[:]), Path: dir})
			}
			if c == '/' && !recursive {
				break
			}
		}
		if !recursive && strings.Contains(rest, "/") {
			continue
		}
		e := treeEntry{Type: "file", OID: f.oid, Size: f.size, Path: f.path}
		if f.lfs() {
			e.LFS = &lfsEntry{OID: f.sha256, Size: f.size, PointerSize: len(pointer(f.sha256, f.size))}
		}
		entries = append(entries, e)
	}
	return entries
}

// A stamp shows whether a file may have changed.
type stamp struct {
	size, modified int64
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// An index caches the digests of the files that it has read, until their stamps
// change.
type index struct {
	root *os.Root

	mu    sync.Mutex
	repos map[string]*entry
}

// An entry serialises the requests for one repository while its files are read.
type entry struct {
	mu    sync.Mutex
	files map[string]*file
	last  *repository
}

func newIndex(root *os.Root) *index { return &index{root: root, repos: map[string]*entry{}} }

// repo returns a repository. fs.ErrNotExist if there is none.
func (x *index) repo(name string) (*repository, error) {
	if !fs.ValidPath(name) || name == "." || strings.Count(name, "/") > 1 {
		return nil, fs.ErrNotExist
	}
	folder := name
	if !x.isDir(folder) {
		folder = path.Base(name)
	}
	if !x.isDir(folder) {
		return nil, fs.ErrNotExist
	}
	x.mu.Lock()
	e := x.repos[name]
	if e == nil {
		e = &entry{files: map[string]*file{}}
		x.repos[name] = e
	}
	x.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.read(x.root, name, folder)
}

func (x *index) isDir(folder string) bool {
	info, err := x.root.Stat(folder)
	return err == nil && info.IsDir()
}

func (e *entry) read(root *os.Root, name, folder string) (*repository, error) {
	files := map[string]*file{}
	err := fs.WalkDir(root.FS(), folder, func(full string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if full != folder && strings.HasPrefix(d.Name(), ".") { // .git, .cache
				return fs.SkipDir
			}
			return nil
		}
		info, err := root.Stat(full)
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // links that lead nowhere or outside are not served
		}
		rel := strings.TrimPrefix(full, folder+"/")
		f := e.files[rel]
		if f == nil || f.stamp != stampOf(info) {
			if f, err = readFile(root, full, rel); err != nil {
				return err
			}
		}
		files[rel] = f
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.files = files
	r := &repository{name: name, folder: folder}
	for _, f := range files {
		r.files = append(r.files, f)
	}
	if len(r.files) == 0 {
		return nil, fs.ErrNotExist
	}
	sort.Slice(r.files, func(i, j int) bool { return r.files[i].path < r.files[j].path })
	h := sha256.New()
	for _, f := range r.files {
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.path, f.size, f.sha256)
	}
	r.commit = hex.EncodeToString(h.Sum(nil))[:40]
	e.last = r
	return r, nil
}

// object finds SHA256/REPO/FILE among the repositories read last.
func (x *index) object(full string) (*repository, *file) {
	sum, rest, _ := strings.Cut(full, "/")
	parts := strings.SplitN(rest, "/", 3)
	for n := 1; n < len(parts); n++ {
		name := strings.Join(parts[:n], "/")
		x.mu.Lock()
		e := x.repos[name]
		x.mu.Unlock()
		if e == nil {
			continue
		}
		e.mu.Lock()
		last := e.last
		e.mu.Unlock()
		if last == nil {
			continue
		}
		if f := last.find(strings.Join(parts[n:], "/")); f != nil && f.sha256 == sum {
			return last, f
		}
	}
	return nil, nil
}

func readFile(root *os.Root, full, rel string) (*file, error) {
	in, err := root.Open(full)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	f := &file{path: rel, size: info.Size(), stamp: stampOf(info)}
	content, id := sha256.New(), sha1.New() //nolint:gosec // git's
	_, _ = fmt.Fprintf(id, "blob %d\x00", f.size)
	to := io.Writer(content)
	if !f.lfs() {
		to = io.MultiWriter(content, id)
	}
	n, err := io.CopyBuffer(to, io.LimitReader(in, f.size), make([]byte, 256<<10))
	if err != nil {
		return nil, err
	}
	if n != f.size {
		return nil, fmt.Errorf("file %q became shorter while it was read", full)
	}
	f.sha256 = hex.EncodeToString(content.Sum(nil))
	if f.lfs() {
		p := pointer(f.sha256, f.size)
		id.Reset()
		_, _ = fmt.Fprintf(id, "blob %d\x00%s", len(p), p)
	}
	f.oid = hex.EncodeToString(id.Sum(nil))
	return f, nil
}

// pointer returns the text that git stores in place of a file in LFS (Git LFS
// specification, version 1).
func pointer(sha string, size int64) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", sha, size)
}
