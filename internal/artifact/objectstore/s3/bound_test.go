package s3_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// TestBound tries folders with names that look like those that a namespace may use.
func TestBound(t *testing.T) {
	b := &s3.Bound{Folder: "teams/a", Shared: []string{"platform", "common/models"}}
	for prefix, may := range map[string]struct{ read, write bool }{
		"teams/a": {true, true}, "/teams/a/": {true, true}, "teams/a/source/org/repo": {true, true},
		"teams/ab": {}, "teams": {}, "teams/b/a": {}, "": {}, "/": {}, "a": {}, "source/org/repo": {},
		"platform": {read: true}, "platform/converted": {read: true}, "platforms": {}, "common": {}, "common/models/x": {read: true},
		"x/teams/a": {}, "teams/a/../b": {}, "platform/../teams/b": {}, "teams/a/./x": {}, "teams//a": {}, "Teams/a": {},
	} {
		for _, write := range []bool{false, true} {
			want := may.read && !write || may.write
			err := b.Check(s3.Access{Bucket: "models", Prefix: prefix, Write: write})
			if (err == nil) != want || err != nil && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "spec.s3.sts.sharedFolders")) {
				t.Errorf("%q, write %v: %v, want it allowed: %v", prefix, write, err, want)
			}
		}
	}
	own, other := s3.Access{Bucket: "models", Prefix: "teams/a"}, s3.Access{Bucket: "models", Prefix: "teams/b"}
	if err := b.Check(own, other); err == nil {
		t.Error("a folder of another namespace passes after one of its own")
	}
	var none *s3.Bound
	if err := none.Check(other); err != nil || none.FolderIn() != "" {
		t.Errorf("without a bound: %v", err)
	}
}
