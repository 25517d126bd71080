package bootstrap_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/fault"
)

// secrets is a Store in memory.
type secrets struct {
	mu   sync.Mutex
	data map[string]map[string][]byte
	err  error // of Create
}

func (s *secrets) Get(_ context.Context, name string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.data[name]; ok {
		return d, nil
	}
	return nil, fault.Errorf(fault.NotFound, "there is no Secret %q", name)
}

func (s *secrets) Create(_ context.Context, name string, data map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data[name] != nil {
		return fault.Errorf(fault.Conflict, "Secret %q exists", name)
	}
	if s.err == nil {
		s.data[name] = data
	}
	return s.err
}

// TestMadeOnce runs several processes, of which one makes the Secret.
func TestMadeOnce(t *testing.T) {
	s := &secrets{data: map[string]map[string][]byte{}}
	var wg sync.WaitGroup
	made := make(chan bool, 4)
	for range cap(made) {
		wg.Go(func() {
			did, err := bootstrap.Ensure(t.Context(), s, "s3")
			if err != nil {
				t.Error(err)
			}
			made <- did
		})
	}
	wg.Wait()
	close(made)
	count := 0
	for did := range made {
		if did {
			count++
		}
	}
	data := s.data["s3-credentials"]
	if count != 1 || len(s.data) != 1 || len(data[bootstrap.AccessKey]) != 20 || len(data[bootstrap.SecretKey]) < 40 {
		t.Errorf("%d processes made the Secret, with keys of %d and %d bytes", count, len(data[bootstrap.AccessKey]), len(data[bootstrap.SecretKey]))
	}
	other := &secrets{data: map[string]map[string][]byte{}}
	if _, err := bootstrap.Ensure(t.Context(), other, "s3"); err != nil || string(other.data["s3-credentials"][bootstrap.SecretKey]) == string(data[bootstrap.SecretKey]) {
		t.Errorf("two clusters have the same credentials (%v)", err)
	}
}

// TestRefused has a Secret of another origin, and a Store that refuses.
func TestRefused(t *testing.T) {
	s := &secrets{data: map[string]map[string][]byte{"s3-credentials": {bootstrap.AccessKey: []byte("SOSECRET")}}}
	_, err := bootstrap.Ensure(t.Context(), s, "s3")
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), bootstrap.SecretKey) || strings.Contains(err.Error(), "SOSECRET") {
		t.Errorf("a Secret without a key: %v", err)
	}
	s = &secrets{data: map[string]map[string][]byte{}, err: fault.Errorf(fault.Denied, "no")}
	if made, err := bootstrap.Ensure(t.Context(), s, "s3"); made || !fault.Is(err, fault.Denied) {
		t.Errorf("a Store that refuses: %v, %v", made, err)
	}
}
