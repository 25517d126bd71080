package convert_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// TestInterrupted ends conversions at random calls to the target, as a kill
// would, until one gets through. Whatever the calls, the file is right, and no
// manifest is there before it.
func TestInterrupted(t *testing.T) {
	m := makeModel(topology.Llama, safetensors.BF16, false)
	want := plainConvert(m, topology.Q40)
	file := names.ModelFile("m", "q40")
	for _, readBack := range []bool{false, true} {
		t.Run(fmt.Sprintf("ReadBack=%v", readBack), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(8, 9))
			for round := range 40 {
				from, to := m.store(t, 2), newMemStore()
				to.readBack = readBack
				cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model, PartSize: 1024, Workers: 2}
				runs := 0
				for {
					runs++
					ctx, cancel := context.WithCancel(context.Background())
					left := new(atomic.Int64)
					left.Store(1 + rng.Int64N(60))
					to.fail = func(string, string) error {
						if left.Add(-1) < 0 {
							cancel()
							return context.Canceled
						}
						return nil
					}
					got, err := convert.Run(ctx, cfg)
					cancel()
					to.fail = nil
					if err == nil {
						if !bytes.Equal(checkFile(t, to, got, file), want) {
							t.Fatalf("round %d: the file differs after %d runs", round, runs)
						}
						break
					}
					if !fault.Is(err, fault.Interrupted) {
						t.Fatalf("round %d: %v", round, err)
					}
					if to.get(names.Manifest) != nil {
						t.Fatalf("round %d: a failed run left a manifest", round)
					}
				}
			}
		})
	}
}

// TestResumeWritesOnlyTheRest counts what a second run writes.
func TestResumeWritesOnlyTheRest(t *testing.T) {
	m := makeModel(topology.Llama, safetensors.BF16, false)
	from, to := m.store(t, 2), newMemStore()
	cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model, PartSize: 1024}
	parts := (len(plainConvert(m, topology.Q40)) + 1023) / 1024
	broken := errors.New("the line is cut")
	stop := parts * 7 / 8
	var writes atomic.Int64
	to.fail = func(call, _ string) error {
		if call == "write" && writes.Add(1) > int64(stop) {
			return fault.As(fault.Transient, broken)
		}
		return nil
	}
	if _, err := convert.Run(context.Background(), cfg); !errors.Is(err, broken) {
		t.Fatalf("error is %v, want %v", err, broken)
	}
	if to.count("save") == 0 {
		t.Error("no state was saved")
	}
	to.fail = nil
	before, opens := to.count("write"), from.count("open")
	run(t, cfg)
	if got := to.count("write") - before; got != parts-stop {
		t.Errorf("the second run wrote %d parts, want %d", got, parts-stop)
	}
	// With the saved state the beginning is not even read again.
	first, second := opens, from.count("open")-opens
	if second >= first {
		t.Errorf("the second run read %d ranges, the first %d", second, first)
	}
}

// TestKilledBeforeManifest finds a complete file without a manifest.
func TestKilledBeforeManifest(t *testing.T) {
	m := makeModel(topology.Llama, safetensors.BF16, false)
	from, to := m.store(t, 1), newMemStore()
	cfg := convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model}
	to.fail = func(call, name string) error {
		if call == "put" && name == names.Manifest {
			return fault.Errorf(fault.Transient, "the line is cut")
		}
		return nil
	}
	if _, err := convert.Run(context.Background(), cfg); !fault.Is(err, fault.Transient) {
		t.Fatalf("error is %v, want a Transient one", err)
	}
	to.fail = nil
	writes := to.count("write")
	got := run(t, cfg)
	if to.count("write") != writes {
		t.Error("the complete file was written again")
	}
	if !bytes.Equal(checkFile(t, to, got, names.ModelFile("m", "q40")), plainConvert(m, topology.Q40)) {
		t.Error("the file differs")
	}
}

// TestBrokenReads cuts source streams; ranges are read again.
func TestBrokenReads(t *testing.T) {
	m := makeModel(topology.Llama, safetensors.BF16, false)
	from, to := m.store(t, 1), newMemStore()
	var opens atomic.Int64
	from.fail = func(call, _ string) error {
		if call == "open" && opens.Add(1) == 8 {
			return fault.Errorf(fault.Transient, "the line is cut")
		}
		return nil
	}
	got := run(t, convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model})
	if !bytes.Equal(checkFile(t, to, got, names.ModelFile("m", "q40")), plainConvert(m, topology.Q40)) {
		t.Error("the file differs")
	}
}

// TestFullTarget ends with the store's error and drops the parts.
func TestFullTarget(t *testing.T) {
	from, to := makeModel(topology.Llama, safetensors.BF16, false).store(t, 1), newMemStore()
	var writes atomic.Int64
	to.fail = func(call, _ string) error {
		if call == "write" && writes.Add(1) > 3 {
			return fault.Errorf(fault.Quota, "no space left on device")
		}
		return nil
	}
	_, err := convert.Run(context.Background(), convert.Config{From: from, To: to, Name: "m", Weights: topology.Q40, Only: convert.Model, PartSize: 1024})
	if !fault.Is(err, fault.Quota) {
		t.Fatalf("error is %v, want a Quota one", err)
	}
	if len(to.objects) > 0 || len(to.uploads) > 0 {
		t.Errorf("the target holds %v and %d unfinished uploads", to.names(), len(to.uploads))
	}
}
