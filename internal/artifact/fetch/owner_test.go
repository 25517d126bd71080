package fetch_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// TestFolderOfAnotherOwnerIsNotTouched: two objects with one folder, or with one inside
// of the other, replaced each other's files, and both looked complete.
func TestFolderOfAnotherOwnerIsNotTouched(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string // owners
		folder        string // of the second, relative to that of the first
		conflict      bool
	}{
		"Same":         {"ns/a", "ns/b", ".", true},
		"Inside":       {"ns/a", "ns/b", "x/y", true},
		"Around":       {"ns/a", "ns/b", "..", true},
		"Beside":       {"ns/a", "ns/b", "../other", false},
		"Own":          {"ns/a", "ns/a", ".", false},
		"OfNobody":     {"", "ns/b", ".", false},
		"AroundNobody": {"", "ns/b", "..", false},
	} {
		t.Run(name, func(t *testing.T) {
			path, to := folder(t)
			h := hubtest.New(t, hubtest.Options{}, light())
			cfg := config(t, h, to)
			cfg.Owner = c.first
			mustRun(t, cfg)
			second, err := dirstore.Open(filepath.Join(path, c.folder))
			if err != nil {
				t.Fatal(err)
			}
			other := cfg
			other.To, other.Owner, other.Exclude = second, c.second, []string{"*.json"}
			_, err = fetch.Run(t.Context(), other)
			if c.conflict {
				if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), `of "ns/a": choose another folder`) {
					t.Errorf("the fetch of another owner: %v", err)
				}
				h.Forget()
				if mustRun(t, cfg); reads(h) > 0 {
					t.Error("the folder of the first owner is not whole")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m, _, err := manifest.Load(t.Context(), second); err != nil || m.Origin.Owner != c.second {
				t.Errorf("the owner is %q: %v", m.Origin.Owner, err)
			}
		})
	}
}

// TestFolderWithoutManifestIsAdopted: hf-operator wrote none. So does one that was
// removed to hand the folder over, and a complete folder gets its owner.
func TestFolderWithoutManifestIsAdopted(t *testing.T) {
	_, to := folder(t)
	h := hubtest.New(t, hubtest.Options{}, light())
	cfg := config(t, h, to)
	for _, owner := range []string{"", "ns/a", "ns/b"} {
		if owner == "ns/b" {
			if err := to.Remove(t.Context(), names.Manifest); err != nil {
				t.Fatal(err)
			}
		}
		cfg.Owner = owner
		if m := mustRun(t, cfg); m.Origin.Owner != owner {
			t.Errorf("the owner is %q, want %q", m.Origin.Owner, owner)
		}
		verify(t, to, light())
		if n := reads(h); (n > 0) != (owner == "") {
			t.Errorf("owner %q reads the large file %d times", owner, n)
		}
	}
}
