package fetch

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/artifact/manifest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// A job makes one target equal to one origin.
type job struct {
	retrier
	o      Options
	target objectstore.Store
	to     objectstore.Store // the target, with retries
	choose patterns
	origin manifest.Origin
	base   manifest.Manifest // the new manifest without origin and files
	meter  *meter
}

func newJob(to objectstore.Store, o Options) (*job, error) {
	if to == nil {
		return nil, fault.Errorf(fault.Invalid, "no target is given")
	}
	choose, err := newPatterns(o.Include, o.Exclude)
	if err != nil {
		return nil, err
	}
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.PartSize == 0 {
		o.PartSize = defaultPartSize
	}
	const least, most = 5 << 20, 1 << 30
	if o.PartSize < least || o.PartSize > most {
		return nil, fault.Errorf(fault.Invalid, "the part size %d is not between 5 MiB and 1 GiB", o.PartSize)
	}
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	meter := startMeter(o.Progress)
	again := retrier{log: log, waits: &meter.waits, sleep: sleep}
	return &job{
		retrier: again, o: o, target: to, to: &patientStore{Store: to, retrier: again}, choose: choose,
		base: manifest.Manifest{Kind: manifest.Source}, meter: meter,
	}, nil
}

// run does the job while no other process writes to the target. It calls plan, which
// lists the files, only if the target is not complete.
func (j *job) run(ctx context.Context, plan func(context.Context) ([]item, error)) (manifest.Manifest, error) {
	unlock, err := j.lock(ctx)
	if err != nil {
		return manifest.Manifest{}, err
	}
	defer unlock()
	return j.runAlone(ctx, plan)
}

// lock waits until no other process writes to a target with locks.
func (j *job) lock(ctx context.Context) (unlock func(), err error) {
	locker, ok := j.target.(objectstore.Locker)
	if !ok {
		return func() {}, nil
	}
	for n := 1; ; n++ {
		unlock, err := locker.TryLock(ctx)
		if unlock != nil || err != nil {
			return unlock, err
		}
		if n == 1 {
			j.log.InfoContext(ctx, "waiting for another process that writes to the target", "target", j.to.URL())
		}
		if err := j.sleep(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

// lockPoll is the interval at which a locked target is tried again.
const lockPoll = time.Second

func (j *job) runAlone(ctx context.Context, plan func(context.Context) ([]item, error)) (manifest.Manifest, error) {
	old, found, err := j.existing(ctx)
	if err != nil {
		return manifest.Manifest{}, err
	}
	if err := j.checkOwner(ctx, old); err != nil {
		return manifest.Manifest{}, err
	}
	j.origin.Owner = j.o.Owner
	if found && old.Kind == j.base.Kind && old.Origin.Equal(j.origin) {
		whole, err := j.whole(ctx, old)
		if err != nil {
			return manifest.Manifest{}, err
		}
		if whole {
			j.meter.total.Store(old.Size())
			return j.adopt(ctx, old)
		}
	}
	items, err := plan(ctx)
	if err != nil {
		return manifest.Manifest{}, err
	}
	sum, err := total(items)
	if err != nil {
		return manifest.Manifest{}, err
	}
	j.meter.total.Store(sum)
	return j.bring(ctx, items, old, found)
}

// existing reads the target's manifest, if it has one. It does not add to the few
// attempts of the store itself: a target that is not reachable now is more often
// misspelt than down.
func (j *job) existing(ctx context.Context) (manifest.Manifest, bool, error) {
	m, _, err := manifest.Load(ctx, j.to)
	switch {
	case fault.Is(err, fault.NotFound):
		return manifest.Manifest{}, false, nil
	case fault.Is(err, fault.Corrupt):
		j.log.WarnContext(ctx, "the target's manifest is not readable and is replaced", "error", err)
		return manifest.Manifest{}, false, nil
	}
	return m, err == nil, err
}

// whole reports whether the target has all files of its manifest: by ETag in a
// bucket, by token or digest in a folder.
func (j *job) whole(ctx context.Context, m manifest.Manifest) (bool, error) {
	list, err := j.to.List(ctx, "")
	if err != nil {
		return false, err
	}
	there := map[string]objectstore.Object{}
	for _, o := range list {
		there[o.Name] = o
	}
	e := j.engine(startMeter(nil))
	for _, f := range m.Files {
		o, ok := there[f.Path]
		if !ok || o.Size != f.Size || o.ETag != f.ETag {
			return false, nil
		}
		if f.ETag != "" {
			continue
		}
		it := item{path: f.Path, size: f.Size, sha256: f.SHA256, token: "sha256:" + f.SHA256, seen: e.meter.begin(f.Path)}
		it.token = it.reloaded(m.Origin.Reload).token
		_, ok, err := e.finished(ctx, it)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (j *job) engine(m *meter) *engine {
	return &engine{
		retrier: j.retrier, to: j.to, buffers: newBuffers(j.o.PartSize, j.o.Concurrency), partSize: j.o.PartSize,
		stall: j.o.Stall, meter: m,
	}
}

// bring fills the target. A manifest means that all files are complete, so bring
// removes the old one before the first file changes, and with it the files that
// the new one does not list.
func (j *job) bring(ctx context.Context, items []item, old manifest.Manifest, found bool) (manifest.Manifest, error) {
	if err := j.clear(ctx, items, old, found); err != nil {
		return manifest.Manifest{}, err
	}
	sortItems(items)
	files, err := j.engine(j.meter).run(ctx, items)
	if fault.Is(err, fault.Quota) {
		j.makeRoom(ctx)
	}
	if err != nil {
		return manifest.Manifest{}, err
	}
	done := j.base
	done.Version = manifest.Version
	done.Origin, done.Files, done.Written = j.origin, files, time.Now().UTC().Truncate(time.Second)
	if err := manifest.Save(ctx, j.to, done); err != nil {
		return manifest.Manifest{}, err
	}
	return done, nil
}

// makeRoom aborts the recorded uploads to a target that is full, because unfinished
// uploads keep it full. The error of the file that did not fit may have stopped those
// of others while they began; its own upload is dropped already.
func (j *job) makeRoom(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	if err := j.to.AbortUploads(ctx, func(string) bool { return false }); err != nil {
		j.log.WarnContext(ctx, "unfinished uploads stay behind", "error", err)
	}
}

func (j *job) clear(ctx context.Context, items []item, old manifest.Manifest, found bool) error {
	wanted := map[string]bool{}
	for _, it := range items {
		wanted[it.path] = true
	}
	if found {
		if err := j.to.Remove(ctx, names.Manifest); err != nil {
			return err
		}
	}
	for _, f := range old.Files {
		if wanted[f.Path] {
			continue
		}
		if err := j.to.Remove(ctx, f.Path); err != nil {
			return err
		}
	}
	return j.to.AbortUploads(ctx, func(name string) bool { return wanted[name] })
}
