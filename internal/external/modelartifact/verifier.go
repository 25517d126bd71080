package modelartifact

import (
	"context"
	"sync"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/verify"
	"github.com/gorizond/koldun/internal/fault"
)

// verifyWorkers is the number of files of one artifact that are read concurrently.
const verifyWorkers = 2

// A Verifier reads all bytes of artifacts and compares them with their
// manifests, in the background, one artifact at a time. It keeps the
// result for the last value of each. It is safe for concurrent use.
type Verifier struct {
	ctx    func() context.Context
	cancel context.CancelFunc
	slot   chan struct{}
	wg     sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*verification // by URL
}

// A verification is one read of all files of one artifact.
type verification struct {
	digest, value string // of the manifest; of Spec.Verify
	stop          context.CancelFunc
	done          chan struct{}
	err           error // once done is closed
}

// NewVerifier returns a Verifier. Close must be called once.
func NewVerifier() *Verifier {
	ctx, cancel := context.WithCancel(context.Background())
	return &Verifier{
		ctx: func() context.Context { return ctx }, cancel: cancel,
		slot: make(chan struct{}, 1), jobs: map[string]*verification{},
	}
}

// Close cancels running verifications, and waits until they have ended.
func (v *Verifier) Close() {
	v.cancel()
	v.wg.Wait()
}

// verified reports whether an artifact has been verified for a value, and the
// result: Corrupt if it does not match its manifest. Otherwise it starts the
// verification. It reports a transient failure once, and the next call starts the
// verification again.
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
