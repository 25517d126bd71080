// Package fetch brings the files of a model from a hub, a bucket or a folder to
// a bucket or a folder, without a copy on the way and with memory bounded by
// concurrency times part size.
//
// Every byte is hashed while it passes; a file becomes visible only after its
// size and digest are those that the source states, and the manifest is written
// when all files are there. A run that was killed is continued by the next one
// from the parts that were stored.
package fetch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/hub"
	"github.com/gorizond/koldun/internal/manifest"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/progress"
)

// Hub is the part of hub.Client that a fetch needs.
type Hub interface {
	Resolve(ctx context.Context, repo, revision string) (commit string, err error)
	Tree(ctx context.Context, repo, commit string) ([]hub.File, error)
	Open(ctx context.Context, repo, commit, path string, offset, length int64) (io.ReadCloser, error)
}

// Options hold for all sources. The zero value is usable.
type Options struct {
	// Include and Exclude choose files by patterns in which * stands for any
	// characters, slashes too. Both empty: what a conversion needs.
	Include, Exclude []string
	Concurrency      int           // ranges under way at once, default 8
	PartSize         int64         // bytes of a range, 5 MiB or more, default 8 MiB; grows for files over 10,000 parts
	Stall            time.Duration // a connection that brings less than 512 bytes/s for so long is replaced, default 30 s
	Progress         progress.Func // nil: none
	Log              *slog.Logger  // nil: none
}

// Config says what to fetch from a hub, and where to.
type Config struct {
	Hub Hub
	Ref modelref.Ref // of scheme Hub
	To  objectstore.Store
	Options
}

// Run fetches from a hub and returns the manifest it wrote, or the one it found
// if the target already has these very files. It blocks until all is there, ctx
// ends or an error is final; it does not give up on a source that answers late
// or breaks off, as long as bytes come. Errors: Denied, NotFound, Quota, Corrupt
// (bytes differ from the hub's digest, three times), Conflict (somebody else
// writes the same files), Unsupported, Invalid, Transient (all tries were in
// vain), Interrupted.
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
	j.origin = manifest.Origin{Source: source.String(), Commit: commit, Include: cfg.Include, Exclude: cfg.Exclude}
	return j.run(ctx, func(ctx context.Context) ([]item, error) {
		files, err := cfg.Hub.Tree(ctx, repo, commit)
		if err != nil {
			return nil, err
		}
		var items []item
		for _, f := range files {
			if j.choose.match(f.Path) {
				items = append(items, hubItem(cfg.Hub, repo, commit, f))
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

// checkHubItems refuses repositories that cannot become a model, before the
// download and not after it.
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
