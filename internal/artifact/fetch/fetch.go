// Package fetch transfers the files of a model from a hub, a bucket or a folder to
// a bucket or a folder, without an intermediate copy and with memory bounded by
// concurrency times part size.
//
// It hashes every byte on the way. A file becomes visible only when its size and
// digest match those of the source, and the manifest is written after all files.
// The next run continues a killed one from the stored parts.
package fetch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/progress"
)

// Hub is the part of hub.Client that a fetch needs.
type Hub interface {
	Resolve(ctx context.Context, repo, revision string) (commit string, err error)
	Tree(ctx context.Context, repo, commit string) ([]hub.File, error)
	Open(ctx context.Context, repo, commit, path string, offset, length int64) (io.ReadCloser, error)
}

// Options apply to all sources. The zero value is usable.
type Options struct {
	// Include and Exclude choose files by patterns in which * matches any
	// characters including slashes. Both empty: the files that a conversion needs.
	Include, Exclude []string
	Concurrency      int           // ranges in flight, default 8
	PartSize         int64         // bytes of a range, 5 MiB or more, default 8 MiB; grows for files over 10,000 parts
	Stall            time.Duration // a connection with less than 512 bytes/s for that time is replaced, default 30 s
	Progress         progress.Func // nil: none
	Log              *slog.Logger  // nil: none
	// Reload identifies a request to download all files again. Files that the target
	// has count only if a fetch with the same value wrote them. Empty: no request.
	Reload string
	// Owner identifies the object that the target belongs to, NAMESPACE/NAME. A folder
	// with a model of another owner, or one around or inside of such a folder, is a
	// Conflict. Empty: owners do not count.
	Owner string
}

// A Config is what to fetch from a hub, and the target.
type Config struct {
	Hub Hub
	Ref modelref.Ref // of scheme Hub
	To  objectstore.Store
	Options
}

// Run fetches from a hub and returns the manifest that it wrote, or the existing
// one if the target already has the same files. It blocks until all files are
// stored, ctx ends or an error is final; it keeps retrying a slow or broken source
// as long as bytes come. Errors: Denied, NotFound, Quota, Corrupt (bytes differ
// from the hub's digest, three times), Conflict (another process writes the same
// files), Unsupported, Invalid, Transient (all attempts failed), Interrupted.
func Run(ctx context.Context, cfg Config) (manifest.Manifest, error) {
	m, err := run(ctx, cfg)
	if err != nil {
		return manifest.Manifest{}, fmt.Errorf("cannot fetch %s: %w", cfg.Ref, err)
	}
	return m, nil
}

func run(ctx context.Context, cfg Config) (_ manifest.Manifest, err error) {
	if cfg.Ref.Scheme != modelref.Hub || cfg.Hub == nil {
		return manifest.Manifest{}, fault.Errorf(fault.Invalid, "the source is not a repository of a hub")
	}
	j, err := newJob(cfg.To, cfg.Options)
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer func() { j.meter.end(err) }()
	repo, commit := cfg.Ref.Repo, cfg.Ref.Revision
	if !cfg.Ref.Pinned() {
		if commit, err = cfg.Hub.Resolve(ctx, repo, commit); err != nil {
			return manifest.Manifest{}, err
		}
	}
	source := cfg.Ref
	source.Revision = ""
	j.origin = manifest.Origin{Source: source.String(), Commit: commit, Include: cfg.Include, Exclude: cfg.Exclude, Reload: cfg.Reload}
	return j.run(ctx, func(ctx context.Context) ([]item, error) {
		files, err := cfg.Hub.Tree(ctx, repo, commit)
		if err != nil {
			return nil, err
		}
		var items []item
		for _, f := range files {
			if j.choose.match(f.Path) {
				items = append(items, hubItem(cfg.Hub, repo, commit, f).reloaded(cfg.Reload))
			}
		}
		return items, checkHubItems(items, len(files), cfg.Include)
	})
}

func hubItem(h Hub, repo, commit string, f hub.File) item {
	it := item{path: f.Path, size: f.Size, sha256: f.SHA256, token: "sha256:" + f.SHA256}
	if !f.LFS() {
		it.git, it.token = f.OID, "git:"+f.OID
	}
	it.open = func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return h.Open(ctx, repo, commit, f.Path, offset, length)
	}
	return it
}

// checkHubItems returns an error for repositories that cannot become a model,
// before the download instead of after it.
func checkHubItems(items []item, all int, include []string) error {
	if len(items) == 0 {
		return fault.Errorf(fault.NotFound, "none of the repository's %d files is chosen by the patterns", all)
	}
	if len(include) > 0 {
		return nil
	}
	for _, it := range items {
		if strings.HasSuffix(it.path, weightsExt) {
			return nil
		}
	}
	return fault.Errorf(fault.Unsupported, "none of the repository's %d files holds weights as %s, the only format that can be converted", all, weightsExt)
}

const weightsExt = ".safetensors"
