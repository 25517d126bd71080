package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
)

// slots reads "runner/number:affinity!", with a mark if the slot is busy.
func slots(q *policy.Queue, words string) {
	for word := range strings.FieldsSeq(words) {
		word, isBusy := strings.CutSuffix(word, "!")
		at, affinity, _ := strings.Cut(word, ":")
		runner, number, _ := strings.Cut(at, "/")
		q.SetSlot(policy.Slot{Runner: runner, Number: int(number[0] - '0'), Affinity: affinity, Idle: !isBusy})
	}
}

func TestSlots(t *testing.T) {
	cases := map[string]struct {
		slots string
		jobs  []string
		want  []string // "job>runner/slot"
	}{
		"EachSlotOnce":             {"r1/0 r1/1", []string{"a t", "b t", "c t"}, []string{"a>r1/0", "b>r1/1"}},
		"SpreadsOverRunners":       {"r1/0 r1/1 r2/0 r2/1", []string{"a t", "b t", "c t", "d t"}, []string{"a>r1/0", "b>r2/0", "c>r1/1", "d>r2/1"}},
		"LeastBusyRunner":          {"r1/0! r1/1! r1/2 r2/0! r2/1", []string{"a t"}, []string{"a>r2/1"}},
		"IdleRunnerBeforeColdSlot": {"r1/0! r1/1 r2/0:x", []string{"a t"}, []string{"a>r2/0"}},
		"ColdSlotOfTheSameRunner":  {"r1/0:x r1/1", []string{"a t"}, []string{"a>r1/1"}},
		"ItsOwnSlot":               {"r1/0 r1/1:chat r2/0", []string{"a t chat"}, []string{"a>r1/1"}},
		"ItsSlotOfABusyRunner":     {"r1/0! r1/1:chat r2/0", []string{"a t chat"}, []string{"a>r1/1"}},
		"OfSeveralTheLeastBusy":    {"r1/0! r1/1:chat r2/0:chat", []string{"a t chat"}, []string{"a>r2/0"}},
		"OfSeveralTheFirstRunner":  {"r2/0:chat r1/0:chat", []string{"a t chat"}, []string{"a>r1/0"}},
		"OfSeveralTheFirstSlot":    {"r1/1:chat r1/0:chat", []string{"a t chat"}, []string{"a>r1/0"}},
		"WaitsForItsBusySlot":      {"r1/0:chat! r1/1", []string{"a t chat", "b t"}, []string{"b>r1/1"}},
		"ServedSlotHoldsIt":        {"r1/0 r1/1", []string{"a t chat", "b t chat"}, []string{"a>r1/0"}},
		"ChangedAffinity":          {"r1/0:chat r1/0:other r2/0:chat", []string{"a t chat"}, []string{"a>r2/0"}},
		"ChangedAffinityOfOne":     {"r1/0 r2/0:chat r3/0:chat r3/0:other", []string{"a t chat"}, []string{"a>r2/0"}},
		"BecomesBusy":              {"r1/0 r1/0! r1/1", []string{"a t", "b t"}, []string{"a>r1/1"}},
		"BecomesIdle":              {"r1/0! r1/0 r2/0", []string{"a t", "b t"}, []string{"a>r1/0", "b>r2/0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q := policy.New(patience)
			slots(q, c.slots)
			fill(q, c.jobs...)
			var got []string
			for j, to, ok := q.Next(start); ok; j, to, ok = q.Next(start) {
				got = append(got, j.ID+">"+to.Runner+"/"+string(rune('0'+to.Number)))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRemoveRunnerForgetsAllSlots(t *testing.T) {
	q := policy.New(patience)
	slots(q, "r1/0 r1/1:chat r1/2! r2/0")
	if q.Slots() != 4 {
		t.Errorf("Slots = %d, want 4", q.Slots())
	}
	q.RemoveRunner("r1")
	q.RemoveRunner("r3")
	if q.Slots() != 1 {
		t.Errorf("Slots = %d after the runner was removed, want 1", q.Slots())
	}
	fill(q, "a t chat", "b t")
	if got := serve(q, start); len(got) != 1 || got[0] != "a>r2" {
		t.Errorf("served %v, want only a, on r2", got)
	}
	slots(q, "r1/0! r1/1") // it counts its busy slots anew
	slots(q, "r2/0! r2/1")
	if got := serve(q, start); len(got) != 1 || got[0] != "b>r1" {
		t.Errorf("served %v, want b on r1", got)
	}
}
