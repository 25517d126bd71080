package toolcall

import "strings"

// A taggedBlock reads calls between tags, with arguments as JSON: those of DeepSeek
// and Kimi.
type taggedBlock struct {
	p     *Parser
	tags  callTags
	state tagState
	cut   cutter
	args  object
}

// callTags are the tags of a format.
type callTags struct {
	call, sep, close, end string
	// name returns the name from the text before sep; "" is a name in the next line.
	name func(header string) string
}

var (
	deepSeekTags = callTags{deepSeekCall, deepSeekSep, deepSeekClose, deepSeekEnd, func(header string) string {
		if header == "function" {
			return ""
		}
		return header
	}}
	kimiTags = callTags{kimiCall, kimiArgs, kimiClose, kimiEnd, func(header string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(header, "functions."), ":")
		return name
	}}
)

type tagState int

const (
	tagCall tagState = iota
	tagHeader
	tagName
	tagOpen
	tagArguments
	tagClose
)

func (b *taggedBlock) read(in []byte) (n int, v verdict) {
	for {
		if b.state != tagHeader && b.state != tagArguments {
			n += spaces(in[n:])
			if n == len(in) {
				return n, more
			}
		}
		switch b.state {
		case tagCall:
			switch literal(in[n:], b.tags.call, b.tags.end) {
			case 0:
				n += len(b.tags.call)
				b.state = tagHeader
			case 1:
				return n + len(b.tags.end), done
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case tagHeader:
			header, k, found := b.cut.cut(in[n:], b.tags.sep)
			if !found {
				return n, more
			}
			n += k
			name := b.tags.name(strings.TrimSpace(header))
			b.state = tagName
			if name != "" {
				return b.start(n, name)
			}
		case tagName: // the tool may itself have the name function
			if in[n] == '{' {
				return b.start(n, "function")
			}
			name, k, found := b.cut.cut(in[n:], "\n")
			if !found {
				return n, more
			}
			return b.start(n+k, strings.TrimSpace(name))
		case tagOpen:
			switch literal(in[n:], "{", fenceWithWords, b.tags.close) {
			case 0:
				b.state, b.args = tagArguments, object{p: b.p}
			case 1:
				n += len(fenceWithWords)
			case 2:
				b.p.arguments([]byte("{}"))
				b.state = tagClose
				return n, ended
			case undecided:
				return n, more
			default:
				return n, broken
			}
		case tagArguments:
			k, v := b.args.read(in[n:])
			if v == ended {
				b.state = tagClose
			}
			return n + k, v
		case tagClose:
			switch literal(in[n:], fence, b.tags.close, b.tags.call, b.tags.end) {
			case 0:
				n += len(fence)
			case 1:
				b.state = tagCall
				return n + len(b.tags.close), between
			case 2, 3:
				b.state = tagCall
			case undecided:
				return n, more
			default:
				return n, done
			}
		}
	}
}

func (b *taggedBlock) start(n int, name string) (int, verdict) {
	if !b.p.start(name) {
		return n, broken
	}
	b.state = tagOpen
	return n, began
}
