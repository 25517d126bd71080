package toolcall

// A listBlock reads objects with calls: one, several, or a list of them.
type listBlock struct {
	call   jsonCall
	end    string // ends the block; "" is the first byte that is not its own
	list   bool   // the objects may be in a list
	loose  bool   // commas or semicolons may separate objects without a list
	fenced bool   // it may be between lines of ```

	state  listState
	inList bool
}

type listState int

const (
	listStart listState = iota
	listItem
	listCall
	listNext
	listEnd
)

func (b *listBlock) read(in []byte) (n int, v verdict) {
	for {
		if b.state != listCall {
			n += spaces(in[n:])
		}
		if n == len(in) {
			return n, more
		}
		c := in[n]
		switch b.state {
		case listStart:
			if c == '`' && b.fenced {
				k, v := openFence(in[n:])
				if n += k; v != done {
					return n, v
				}
				b.state = listItem
				break
			}
			b.state = listItem
			if c == '[' && b.list {
				b.inList = true
				n++
			}
		case listItem:
			if c == '[' && b.list && !b.inList && b.fenced {
				b.inList = true
				n++
				break
			}
			if c != '{' {
				return n, broken
			}
			b.state = listCall
		case listCall:
			k, v := b.call.read(in[n:])
			n += k
			if v == ended {
				b.state = listNext
			}
			return n, v
		case listNext:
			switch {
			case (c == ',' || c == ';') && (b.inList || b.loose):
				n++
				b.state = listItem
			case c == ']' && b.inList:
				n++
				b.state = listEnd
				return n, between
			case c == '{' && !b.inList:
				b.state = listCall
			default:
				b.state = listEnd
			}
		case listEnd:
			return b.close(in, n)
		}
	}
}

// openFence reads the line that begins code.
func openFence(in []byte) (int, verdict) {
	words, plain := literal(in, fenceWithWords), literal(in, fence)
	switch {
	case words == 0:
		return len(fenceWithWords), done
	case words == undecided:
		return 0, more
	case plain == 0:
		return len(fence), done
	}
	return 0, broken
}

// close reads what ends the block.
func (b *listBlock) close(in []byte, n int) (int, verdict) {
	end := b.end
	if b.fenced {
		end = fence
	}
	if end == "" {
		return n, done
	}
	switch literal(in[n:], end) {
	case 0:
		return n + len(end), done
	case undecided:
		return n, more
	}
	return n, done
}
