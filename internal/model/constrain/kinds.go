package constrain

// Kinds of bytes. Most grammars treat all bytes of a kind alike: letters, digits,
// or the parts of UTF-8 that have the same rules.
const (
	kindLower uint8 = iota
	kindUpper
	kindDigit
	kindControl
	firstOther // each other ASCII character, and the ranges of UTF-8
)

// kindOf maps bytes to kinds, below kinds.
var kindOf, kinds = newKinds()

func newKinds() (of [256]uint8, count int) {
	// Where the rules of UTF-8 change.
	begins := map[int]bool{0x80: true, 0x90: true, 0xA0: true, 0xC0: true, 0xC2: true, 0xE0: true, 0xE1: true, 0xE2: true, 0xE3: true, 0xED: true, 0xEE: true, 0xF0: true, 0xF1: true, 0xF4: true, 0xF5: true}
	next := firstOther
	for b := range 256 {
		switch c := byte(b); {
		case c >= 'a' && c <= 'z':
			of[b] = kindLower
		case c >= 'A' && c <= 'Z':
			of[b] = kindUpper
		case c >= '0' && c <= '9':
			of[b] = kindDigit
		case c < ' ' && c != '\t' && c != '\n' && c != '\r':
			of[b] = kindControl
		default:
			if c < 0x80 || begins[b] {
				next++
			}
			of[b] = next - 1
		}
	}
	return of, int(next)
}

// A span holds bytes.
type span struct{ lo, hi byte }

// kindEnds has the first and the last byte of each kind.
var kindEnds = newKindEnds()

func newKindEnds() []span {
	ends := make([]span, kinds)
	for b := range 256 {
		ends[kindOf[b]].hi = byte(b)
		ends[kindOf[255-b]].lo = byte(255 - b)
	}
	return ends
}

// A kindSet is a set of kinds, of which there are less than 64.
type kindSet uint64

func (s kindSet) has(kind uint8) bool { return s>>kind&1 == 1 }
