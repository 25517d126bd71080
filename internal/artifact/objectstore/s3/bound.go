package s3

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// A Bound limits a namespace to folders of all buckets, because other namespaces have
// theirs in the same ones. A nil Bound allows all folders.
type Bound struct {
	// Folder may be read and written.
	Folder string
	// Shared folders may be read.
	Shared []string
}

// FolderIn returns the bound's own folder, "" for none.
func (b *Bound) FolderIn() string {
	if b == nil {
		return ""
	}
	return b.Folder
}

// Check returns nil if the accesses stay within the bound, else an error of kind Denied.
func (b *Bound) Check(list ...Access) error {
	if b == nil {
		return nil
	}
	for _, a := range list {
		if inside(b.Folder, a.Prefix) || !a.Write && slices.ContainsFunc(b.Shared, func(f string) bool { return inside(f, a.Prefix) }) {
			continue
		}
		return fault.As(fault.Denied, b.refusal(a))
	}
	return nil
}

func (b *Bound) refusal(a Access) error {
	right, also := "read", ""
	if len(b.Shared) > 0 {
		also = fmt.Sprintf(" and read those in %q", b.Shared)
	}
	if a.Write {
		right = "write"
	}
	return fmt.Errorf("cannot let the namespace %s folder %q of bucket %q: it may use the folders in %q%s; name one of these, or have a platform engineer add the folder to spec.s3.sts.sharedFolders of the ClusterProviderConfig",
		right, strings.Trim(a.Prefix, "/"), a.Bucket, b.Folder, also)
}

// inside reports whether a folder is another one or below it. A path with ".." is not: some
// services keep objects as files.
func inside(folder, prefix string) bool {
	folder, prefix = strings.Trim(folder, "/"), strings.Trim(prefix, "/")
	return fs.ValidPath(prefix) && (prefix == folder || strings.HasPrefix(prefix, folder+"/"))
}
