package toolcall

import (
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// A parameters writes the arguments of a call from parameters that come one by
// one, each as text.
type parameters struct {
	p    *Parser
	tool Tool
	some bool
}

func (a *parameters) add(key, value string) {
	open := ", "
	if !a.some {
		open = "{"
	}
	a.some = true
	name, _ := openai.Encode(key) // a string can always be encoded
	a.p.arguments([]byte(open + string(name) + ": " + string(a.tool.value(key, value))))
}

func (a *parameters) end() {
	if a.some {
		a.p.arguments([]byte("}"))
		return
	}
	a.p.arguments([]byte("{}"))
}

// A coderBlock reads calls of QwenCoder, which may lack <tool_call>.
type coderBlock struct {
	p     *Parser
	state coderState
	cut   cutter
	args  parameters
	key   string
}

type coderState int

const (
	coderStart coderState = iota
	coderName
	coderParameter
	coderKey
	coderValue
	coderAfter
)

func (b *coderBlock) read(in []byte) (n int, v verdict) {
	for {
		if b.state == coderStart || b.state == coderParameter || b.state == coderAfter {
			n += spaces(in[n:])
			if n == len(in) {
				return n, more
			}
		}
		switch b.state {
		case coderStart:
			switch literal(in[n:], coderBegin) {
			case 0:
				n += len(coderBegin)
				b.state = coderName
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case coderName:
			name, k, found := b.cut.cut(in[n:], ">")
			if !found {
				return n, more
			}
			if !b.p.start(name) {
				return n, broken
			}
			b.state, b.args = coderParameter, parameters{p: b.p, tool: b.p.tools[name]}
			return n + k, began
		case coderParameter:
			switch literal(in[n:], "<parameter=", coderEnd) {
			case 0:
				n += len("<parameter=")
				b.state = coderKey
			case 1:
				b.args.end()
				b.state = coderAfter
				return n + len(coderEnd), ended
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case coderKey:
			key, k, found := b.cut.cut(in[n:], ">")
			if !found {
				return n, more
			}
			n += k
			b.state, b.key = coderValue, key
		case coderValue:
			value, k, found := b.cut.cutBefore(in[n:], "</parameter>", "<parameter=", coderEnd, hermesEnd)
			if !found {
				return n, more
			}
			n += k
			b.args.add(b.key, strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n"))
			b.state = coderParameter
		case coderAfter:
			switch literal(in[n:], hermesEnd, coderBegin) {
			case 0:
				return n + len(hermesEnd), done
			case 1:
				b.state = coderStart
			case undecided:
				return n, more
			default:
				return n, done
			}
		}
	}
}

// A glmBlock reads a call of GLM.
type glmBlock struct {
	p     *Parser
	state glmState
	cut   cutter
	args  parameters
	key   string
}

type glmState int

const (
	glmName glmState = iota
	glmPair
	glmKey
	glmBeforeValue
	glmValue
	glmDone
)

const (
	glmKeyBegin   = "<arg_key>"
	glmValueBegin = "<arg_value>"
)

func (b *glmBlock) read(in []byte) (n int, v verdict) {
	for {
		if b.state == glmName || b.state == glmPair || b.state == glmBeforeValue {
			n += spaces(in[n:])
			if n == len(in) {
				return n, more
			}
		}
		switch b.state {
		case glmName:
			at, _ := find(in[n:], []string{"\n", glmKeyBegin, hermesEnd})
			if at < 0 {
				return n, more
			}
			name := strings.TrimSpace(string(in[n : n+at]))
			if !b.p.start(name) {
				return n, broken
			}
			b.state, b.args = glmPair, parameters{p: b.p, tool: b.p.tools[name]}
			return n + at, began
		case glmPair:
			switch literal(in[n:], glmKeyBegin, hermesEnd) {
			case 0:
				n += len(glmKeyBegin)
				b.state = glmKey
			case 1:
				b.args.end()
				b.state = glmDone
				return n + len(hermesEnd), ended
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case glmKey:
			key, k, found := b.cut.cut(in[n:], "</arg_key>")
			if !found {
				return n, more
			}
			n += k
			b.state, b.key = glmBeforeValue, strings.TrimSpace(key)
		case glmBeforeValue:
			switch literal(in[n:], glmValueBegin) {
			case 0:
				n += len(glmValueBegin)
				b.state = glmValue
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case glmValue:
			value, k, found := b.cut.cutBefore(in[n:], "</arg_value>", glmKeyBegin, hermesEnd)
			if !found {
				return n, more
			}
			n += k
			b.args.add(b.key, value)
			b.state = glmPair
		case glmDone:
			return n, done
		}
	}
}
