package toolcall

import "strings"

// A mistralBlock reads what follows [TOOL_CALLS]: a list of objects, or one call as
// NAME[ARGS]{...} or NAME[CALL_ID]ID[ARGS]{...}.
type mistralBlock struct {
	p     *Parser
	list  *listBlock
	state mistralState
	cut   cutter
	args  object
}

type mistralState int

const (
	mistralStart mistralState = iota
	mistralName
	mistralOpen
	mistralArguments
	mistralDone
)

func (b *mistralBlock) read(in []byte) (n int, v verdict) {
	if b.list != nil {
		return b.list.read(in)
	}
	for {
		switch b.state {
		case mistralStart:
			n += spaces(in[n:])
			if n == len(in) {
				return n, more
			}
			if in[n] == '[' || in[n] == '{' {
				b.list = &listBlock{call: jsonCall{p: b.p}, list: true, loose: true}
				k, v := b.list.read(in[n:])
				return n + k, v
			}
			b.state = mistralName
		case mistralName:
			at, size := find(in[n:], []string{mistralID, mistralArgs, "{"})
			if at < 0 {
				if len(in)-n > maxName {
					return n, broken
				}
				return n, more
			}
			name := strings.TrimSpace(string(in[n : n+at]))
			if !b.p.start(name) {
				return n, broken
			}
			b.state = mistralOpen
			if size == len(mistralArgs) {
				return n + at + size, began
			}
			return n + at, began // before the id, or the arguments
		case mistralOpen:
			n += spaces(in[n:])
			if n == len(in) {
				return n, more
			}
			switch literal(in[n:], "{", mistralID) {
			case 0:
				b.state, b.args = mistralArguments, object{p: b.p}
			case 1:
				_, k, found := b.cut.cut(in[n:], mistralArgs)
				if !found {
					return n, more
				}
				n += k
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case mistralArguments:
			k, v := b.args.read(in[n:])
			if v == ended {
				b.state = mistralDone
			}
			return n + k, v
		case mistralDone:
			return n, done
		}
	}
}

// maxName is the longest name of a tool with what surrounds it, in bytes.
const maxName = 256
