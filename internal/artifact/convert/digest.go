package convert

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"hash"
	"sync"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
)

// saveEvery is the number of parts between two saved states of a digest. A process
// that continues on S3 computes at most that many parts again without writing
// them.
const saveEvery = 8

// A digest is the SHA-256 over the parts of a file in order. Another process can
// continue it: the upload holds its state after the last part of the contiguous
// stored beginning.
type digest struct {
	sum   hash.Hash
	parts int // in sum

	mu     sync.Mutex
	states map[int][]byte // after each part that is not yet in the beginning
	have   map[int]bool   // stored parts after the beginning
	begin  int            // parts 1 to begin are stored
	latest []byte         // state after part begin
	saved  int            // parts in the last saved state

	saving sync.Mutex
}

// A digestState is the saved form of a digest.
type digestState struct {
	Parts  int    `json:"parts"`
	SHA256 []byte `json:"sha256"` // as crypto/sha256 marshals it
}

// resumeDigest continues from a saved state if all its parts are stored.
func resumeDigest(up objectstore.Upload, stored map[int]int64) *digest {
	d := &digest{sum: sha256.New(), states: map[int][]byte{}, have: map[int]bool{}}
	for n := range stored {
		d.have[n] = true
	}
	var s digestState
	if json.Unmarshal(up.State(), &s) != nil || s.Parts < 1 {
		return d
	}
	for n := 1; n <= s.Parts; n++ {
		if !d.have[n] {
			return d
		}
	}
	sum := sha256.New()
	if sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.SHA256) != nil {
		return d
	}
	for n := range s.Parts {
		delete(d.have, n+1)
	}
	d.sum, d.parts, d.begin, d.saved = sum, s.Parts, s.Parts, s.Parts
	return d
}

// add hashes the next part. Not safe for concurrent use.
func (d *digest) add(body []byte) error {
	d.sum.Write(body)
	state, err := d.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return err
	}
	d.parts++
	d.mu.Lock()
	d.states[d.parts] = state
	d.mu.Unlock()
	return nil
}

// stored records that a hashed part is stored, and saves the state from time to
// time.
func (d *digest) stored(ctx context.Context, up objectstore.Upload, number int) error {
	d.advance(number)
	if !d.saving.TryLock() {
		return nil // the running save or the next one covers it
	}
	defer d.saving.Unlock()
	s, due := d.due()
	if !due {
		return nil
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return up.SaveState(ctx, raw)
}

// advance extends the beginning.
func (d *digest) advance(number int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.have[number] = true
	for d.have[d.begin+1] && d.states[d.begin+1] != nil {
		d.begin++
		d.latest = d.states[d.begin]
		delete(d.have, d.begin)
		delete(d.states, d.begin)
	}
}

// due returns the state to save, or nil if a save is not worth it yet.
func (d *digest) due() (digestState, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begin-d.saved < saveEvery {
		return digestState{}, false
	}
	d.saved = d.begin
	return digestState{Parts: d.begin, SHA256: d.latest}, true
}
