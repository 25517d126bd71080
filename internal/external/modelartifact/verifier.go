package modelartifact

import (
	"context"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/verify"
)

// verifyWorkers are the files of one artifact that are read at once.
const verifyWorkers = 2

// A Verifier reads all bytes of artifacts and compares them with their
// manifests, in the background, one artifact at a time. It remembers what came
// of it for the last value that each was verified for. Safe for concurrent use.
type Verifier struct {
	ctx    func() context.Context
	cancel context.CancelFunc
	slot   chan struct{}
	wg     sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*verification // by URL
}

// A verification is one reading of one artifact.
type verification struct {
	digest, value string // of the manifest; of Spec.Verify
	stop          context.CancelFunc
	done          chan struct{}
	err           error // once done is closed
}

// NewVerifier is a Verifier. Close has to be called once.
func NewVerifier() *Verifier {
	ctx, cancel := context.WithCancel(context.Background())
	return &Verifier{
		ctx: func() context.Context { return ctx }, cancel: cancel,
		slot: make(chan struct{}, 1), jobs: map[string]*verification{},
	}
}

// Close ends what is under way, and waits for its end.
func (v *Verifier) Close() {
	v.cancel()
	v.wg.Wait()
}

// verified reports whether an artifact has been verified for a value, and what
// came of it: Corrupt if it is not what its manifest says. If it has not been,
// that begins. A failure that may pass is reported once, and then it begins anew.
func (v *Verifier) verified(store objectstore.Store, digest, value string) (bool, error) {
	url := store.URL()
	v.mu.Lock()
	defer v.mu.Unlock()
	if job := v.jobs[url]; job != nil && job.digest == digest && job.value == value {
		select {
		case <-job.done:
		default:
			return false, nil
		}
		if job.err != nil && !fault.Final(job.err) {
			delete(v.jobs, url)
		}
		return true, job.err
	} else if job != nil {
		job.stop()
	}
	ctx, stop := context.WithCancel(v.ctx())
	job := &verification{digest: digest, value: value, stop: stop, done: make(chan struct{})}
	v.jobs[url] = job
	v.wg.Go(func() {
		defer close(job.done)
		defer stop()
		select {
		case v.slot <- struct{}{}:
			defer func() { <-v.slot }()
			_, job.err = verify.Run(ctx, verify.Config{Store: store, Workers: verifyWorkers})
		case <-ctx.Done():
			job.err = fault.As(fault.Interrupted, ctx.Err())
		}
	})
	return false, nil
}
