package local

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
)

func TestWorkloadsFitTheMachine(t *testing.T) {
	l := &Local{cfg: Config{Memory: 10 << 30}, table: &table{entries: map[Key]*entry{}}}
	add := func(name string, replicas int, memory string) *workload {
		w := &workload{l: l, e: &entry{key: Key{Kind: kindStatefulSet, Namespace: "ns", Name: name}}}
		w.spec.Replicas = &replicas
		w.spec.Template.Spec.Containers = []pod.Container{{Name: "engine", Resources: pod.Resources{Limits: map[string]any{"memory": memory}}}}
		w.e.unit = w
		l.table.entries[w.e.key] = w.e
		return w
	}
	workers, root := add("workers", 3, "2Gi"), add("root", 1, "4Gi")
	for _, w := range []*workload{workers, root} {
		if err := w.fits(); err != nil {
			t.Errorf("%s: %v", w.e.key, err)
		}
	}
	more := add("more", 1, "1Mi")
	err := more.fits()
	if !fault.Is(err, fault.Unsupported) || !strings.Contains(err.Error(), "this machine has 10.0 GiB") || !strings.Contains(err.Error(), "spec.engine.maxSeqLen") {
		t.Errorf("too much memory is refused with %v", err)
	}
	workers.stopped = true
	if err := more.fits(); err != nil {
		t.Errorf("memory of a stopped workload counts: %v", err)
	}
	workers.stopped, root.e.blocked = false, "refused"
	if err := more.fits(); err != nil {
		t.Errorf("memory of a refused workload counts: %v", err)
	}
	root.e.blocked = ""
	if err := add("free", 1, "0").fits(); err != nil {
		t.Errorf("a workload without a limit is refused: %v", err)
	}
	if err := add("wrong", 1, "much").fits(); !fault.Is(err, fault.Invalid) {
		t.Errorf("a wrong amount is refused with %v", err)
	}
	l.cfg.Memory = 0
	if err := more.fits(); err != nil {
		t.Errorf("a machine of unknown memory refuses: %v", err)
	}
}
