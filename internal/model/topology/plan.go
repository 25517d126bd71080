package topology

import (
	"fmt"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// DefaultSeqLen is the longest context, in tokens, unless a claim or its Model says
// otherwise: memory for all of it is taken at the start, and a model's own may be
// 131,072. MinSeqLen is the shortest that they can say.
const (
	DefaultSeqLen = 4096
	MinSeqLen     = 32
)

// A Request asks for a model on a number of nodes.
type Request struct {
	Nodes  int
	SeqLen int       // longest context in tokens; 0 is the model's
	Slots  int       // requests that share the cache; 0 is 1
	Sync   FloatType // type of the buffers between nodes; "" follows from the weights
	// Memory that each node has in bytes; 0 is not checked.
	RootMemory   int64
	WorkerMemory int64
}

// A Plan is what a model needs on its nodes.
type Plan struct {
	Nodes   int       `json:"nodes"`
	SeqLen  int       `json:"seqLen"`
	Sync    FloatType `json:"sync"`
	Memory  []Memory  `json:"memory"` // of each node, the root first
	Traffic Traffic   `json:"traffic"`
}

// Root is what the root allocates.
func (p Plan) Root() Memory { return p.Memory[0] }

// Worker is what the largest worker allocates; nothing if there is none.
func (p Plan) Worker() Memory {
	var most Memory
	for _, m := range p.Memory[1:] {
		if m.Total() > most.Total() {
			most = m
		}
	}
	return most
}

// Preflight says what the model needs on the requested nodes, or why it cannot
// run there. The error is Invalid, Unsupported (weights that do not run) or
// Quota (not enough memory, and the plan says of which node), and names the numbers and
// what would do.
func (s Shape) Preflight(r Request) (Plan, error) {
	if err := s.Validate(); err != nil {
		return Plan{}, err
	}
	sync, err := s.sync(r.Sync)
	if err != nil {
		return Plan{}, err
	}
	if err := s.CheckNodes(r.Nodes, sync); err != nil {
		return Plan{}, fmt.Errorf("%w; it can be spread onto %s", err, list(s.Nodes(sync)))
	}
	seq := r.SeqLen
	if seq == 0 {
		seq = s.SeqLen
	}
	if seq < 1 || seq > s.SeqLen {
		return Plan{}, fault.Errorf(fault.Invalid, "cannot serve a context of %d tokens: the model has 1 to %d", seq, s.SeqLen)
	}
	p := s.plan(r.Nodes, seq, r.Slots, sync)
	if p.fits(r) {
		return p, nil
	}
	return p, s.tooLittle(p, r)
}

// sync checks that weights and buffers go together.
func (s Shape) sync(asked FloatType) (FloatType, error) {
	runs, err := SyncFor(s.Weights)
	if err != nil {
		return "", err
	}
	if asked != "" && asked != runs {
		return "", fault.Errorf(fault.Unsupported, "weights of type %s run only with buffers of type %s, not %s", s.Weights, runs, asked)
	}
	if s.Arch == Qwen3MoE && s.Weights == F32 {
		return "", fault.Errorf(fault.Unsupported, "weights of type f32 do not run in a model with experts: convert it to q40")
	}
	return runs, nil
}

func (s Shape) plan(nodes, seq, slots int, sync FloatType) Plan {
	p := Plan{Nodes: nodes, SeqLen: seq, Sync: sync, Traffic: s.traffic(nodes, sync)}
	for i := range nodes {
		p.Memory = append(p.Memory, s.memory(i, nodes, seq, slots, sync))
	}
	return p
}

func (p Plan) fits(r Request) bool {
	return p.RootFits(r) && (r.WorkerMemory == 0 || p.Worker().Total() <= r.WorkerMemory)
}

// RootFits reports whether the root has the memory that it needs.
func (p Plan) RootFits(r Request) bool {
	return r.RootMemory == 0 || p.Root().Total() <= r.RootMemory
}

// tooLittle names what is missing, and the changes that would help.
func (s Shape) tooLittle(p Plan, r Request) error {
	who, need, have := "the root", p.Root().Total(), r.RootMemory
	if p.RootFits(r) {
		who, need, have = "a worker", p.Worker().Total(), r.WorkerMemory
	}
	var help []string
	for _, n := range s.Nodes(p.Sync) {
		if n > p.Nodes && s.plan(n, p.SeqLen, r.Slots, p.Sync).fits(r) {
			help = append(help, fmt.Sprintf("%d nodes", n))
			break
		}
	}
	if seq := s.longestFit(p, r); seq > 0 {
		help = append(help, fmt.Sprintf("a context of %d tokens", seq))
	}
	hint := "no number of nodes and no shorter context would do"
	if len(help) > 0 {
		hint = strings.Join(help, " or ") + " would do"
	}
	return fault.Errorf(fault.Quota, "on %d nodes at a context of %d tokens %s needs %d MiB and has %d MiB: %s",
		p.Nodes, p.SeqLen, who, mib(need), have>>20, hint)
}

// longestFit is the longest context that fits onto the plan's nodes, 0 if none
// of at least 256 tokens does.
func (s Shape) longestFit(p Plan, r Request) int {
	const least = 256
	lo, hi := 0, p.SeqLen
	for lo+1 < hi {
		mid := lo + (hi-lo)/2
		if s.plan(p.Nodes, mid, r.Slots, p.Sync).fits(r) {
			lo = mid
			continue
		}
		hi = mid
	}
	if lo < least {
		return 0
	}
	return lo / least * least
}

// mib rounds bytes up to MiB.
func mib(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

func list(nodes []int) string {
	if len(nodes) == 0 {
		return "no number of nodes"
	}
	text := make([]string, len(nodes))
	for i, n := range nodes {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ", ") + " nodes"
}
