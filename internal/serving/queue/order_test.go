package queue

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// frame reads "epoch.attempt.seq kind text".
func frame(words string) Frame {
	var f Frame
	w := append(strings.Fields(words), "", "")
	_, _ = fmt.Sscanf(w[0], "%d.%d.%d", &f.Epoch, &f.Attempt, &f.Seq)
	f.Request, f.Kind, f.Text = "r", FrameKind(w[1]), w[2]
	if f.Kind == FrameError {
		f.Text, f.Error = "", &Failure{Code: w[2]}
	}
	return f
}

func show(f Frame) string {
	s := fmt.Sprintf("%s:%s", f.Kind, f.Text)
	if f.Error != nil {
		s += f.Error.Code
	}
	return s
}

func TestFrameOrder(t *testing.T) {
	cases := map[string]struct {
		in   []string
		want []string // delivered; "gap" where frames are missing
	}{
		"InOrder": {
			[]string{"1.1.0 started", "1.1.1 delta a", "1.1.2 delta b", "1.1.3 end"},
			[]string{"started:", "delta:a", "delta:b", "end:"},
		},
		"NothingAfterTheEnd": {
			[]string{"1.1.0 end", "1.1.1 delta a", "1.-1.-1 error late", "2.1.0 delta x"},
			[]string{"end:"},
		},
		"TwiceIsOnce": {
			[]string{"1.1.0 delta a", "1.1.0 delta a", "1.1.1 delta b", "1.1.0 delta a"},
			[]string{"delta:a", "delta:b"},
		},
		"Gap": {
			[]string{"1.1.0 delta a", "1.1.2 delta c", "1.1.1 delta b", "1.1.2 delta c"},
			[]string{"delta:a", "gap", "delta:b", "delta:c"},
		},
		"GapAtTheStart": {
			[]string{"1.1.3 delta d", "1.1.0 started"},
			[]string{"gap", "started:"},
		},
		"NewAttemptBeforeText": {
			[]string{"1.1.0 started", "1.2.0 started", "1.1.1 delta old", "1.2.1 delta a"},
			[]string{"started:", "started:", "delta:a"},
		},
		"NewAttemptAfterText": {
			[]string{"1.1.0 delta a", "1.2.0 started", "1.1.1 delta b"},
			[]string{"delta:a", "error:interrupted"},
		},
		"NewEpochAfterText": {
			[]string{"1.2.0 delta a", "2.1.0 started"},
			[]string{"delta:a", "error:interrupted"},
		},
		"EmptyDeltaIsNoText": {
			[]string{"1.1.0 delta", "1.2.0 delta b"},
			[]string{"delta:", "delta:b"},
		},
		"QueuedUntilText": {
			[]string{"1.0.-1 queued", "1.1.0 started", "2.0.-1 queued", "2.1.0 delta a", "2.0.-1 queued"},
			[]string{"queued:", "started:", "queued:", "delta:a"},
		},
		"ErrorEnds": {
			[]string{"1.1.0 delta a", "1.1.-1 error interrupted", "1.1.1 delta b"},
			[]string{"delta:a", "error:interrupted"},
		},
		"ErrorOfAnOldLeaderIsNothing": {
			[]string{"2.1.0 delta a", "1.9.-1 error lost", "2.1.1 end"},
			[]string{"delta:a", "end:"},
		},
		"DispatchersSendNoText": {
			[]string{"1.1.-1 delta a", "1.1.-1 started"},
			nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var o frameOrder
			var got []string
			for _, words := range c.in {
				switch out, v := o.take(frame(words)); v {
				case deliver:
					got = append(got, show(out))
				case gap:
					got = append(got, "gap")
				case drop:
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is lost, doubled, late or mixed with other attempts, the text that
// comes out is the beginning of that of one attempt.
func FuzzFrameOrder(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var o frameOrder
		var text []string
		attempts := map[string]bool{}
		for range 300 {
			e, a := 1+rng.IntN(2), 1+rng.IntN(2)
			n := rng.IntN(1 + len(text) + 2)
			fr := Frame{Request: "r", Epoch: uint64(e), Attempt: a, Seq: n, Kind: FrameDelta, Text: fmt.Sprintf("%d.%d.%d", e, a, n)}
			out, v := o.take(fr)
			if v != deliver || out.Kind != FrameDelta {
				continue
			}
			text = append(text, out.Text)
			attempts[fmt.Sprintf("%d.%d", out.Epoch, out.Attempt)] = true
			if out.Seq != len(text)-1 {
				t.Fatalf("after %q came %q", text[:len(text)-1], out.Text)
			}
		}
		if len(attempts) > 1 {
			t.Fatalf("text of several attempts: %q", text)
		}
	})
}
