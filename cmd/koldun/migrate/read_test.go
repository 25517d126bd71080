package migrate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/hcl"
)

func TestRead(t *testing.T) {
	docs, err := Read("f.yaml", strings.NewReader(`# a comment
---
kind: A
x: &x {y: 18446744073709551615, z: 2025-01-01}
w: *x
---
{"kind": "AList", "items": [{"kind": "A", "metadata": {"name": "one"}}, {"kind": "B"}]}
`))
	if err != nil || len(docs) != 3 {
		t.Fatalf("got %d documents, %v", len(docs), err)
	}
	if z, _ := get(docs[0].Object, "w.z"); z != "2025-01-01" {
		t.Errorf("w.z is %v", z)
	}
	for path, want := range map[string]string{"w": "f.yaml:5", "x.y": "f.yaml:4", "x.none.z": "f.yaml:4", "": "f.yaml:3"} {
		if got := docs[0].where(path); got != want {
			t.Errorf("%q is at %s, want %s", path, got, want)
		}
	}
	if got := docs[1].where("metadata.name"); got != "f.yaml:7" {
		t.Errorf("the name of an item is at %s", got)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += strings.ReplaceAll(strings.ReplaceAll("C: &C [*P,*P,*P,*P,*P,*P,*P,*P]\n", "C", string(c)), "P", string(c-1))
	}
	for name, text := range map[string]string{
		"Twice": "a: 1\na: 2", "Text": "text", "Merge": "a: &a {}\nb:\n  <<: *a", "Items": "kind: AList\nitems: [1]", "Broken": "a: [", "Bomb": bomb,
	} {
		if _, err := Read("f.yaml", strings.NewReader(text)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPaths(t *testing.T) {
	obj := map[string]any{"a": []any{map[string]any{"b.c": int64(1)}, map[string]any{"d": int64(2)}}}
	if v, ok := get(obj, "a[0][b.c]"); !ok || v != int64(1) {
		t.Errorf("a[0][b.c] is %v, %v", v, ok)
	}
	remove(obj, "a[0][b.c]")
	if v, ok := get(obj, "a[0].d"); !ok || v != int64(2) {
		t.Errorf("an empty item stays: %v", obj)
	}
	remove(obj, "a[0].d")
	if len(obj) != 0 {
		t.Errorf("empty lists stay: %v", obj)
	}
	for _, path := range []string{"a[x]", "a[9]", "a.b.c", "a["} {
		if _, ok := get(map[string]any{"a": []any{"b"}}, path); ok {
			t.Errorf("%s is found", path)
		}
	}
}

// FuzzConvert holds that no manifest panics, and that claims have what the API
// server accepts.
func FuzzConvert(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	m, err := New(Options{Volumes: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		docs, err := Read("f.yaml", bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, d := range docs {
			r, err := m.Convert(t.Context(), d)
			if err != nil {
				continue
			}
			if err := WriteHCL(&bytes.Buffer{}, r, hcl.Addresses{}); err != nil {
				t.Error(err)
			}
		}
	})
}
