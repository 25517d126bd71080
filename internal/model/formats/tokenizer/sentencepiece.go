package tokenizer

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// pieceControl is the type of pieces without text, such as <s>
// (sentencepiece_model.proto, ModelProto.SentencePiece.Type).
const pieceControl = 3

// fromSentencePiece reads tokenizer.model, a protocol buffer: field 1 of the
// model is a repeated piece (1 text, 2 score, 3 type), field 2 the trainer's
// settings (46 and 47 name the pieces for bos and eos).
func fromSentencePiece(raw []byte) (File, error) {
	var f File
	bosPiece, eosPiece := "<s>", "</s>"
	control := map[string]int{}
	err := eachField(raw, func(num int, v field) error {
		switch num {
		case 1:
			p, err := readPiece(v.bytes, len(f.Tokens))
			if err != nil {
				return err
			}
			if _, twice := control[p.text]; p.kind == pieceControl && !twice {
				control[p.text] = len(f.Tokens)
			}
			f.Tokens = append(f.Tokens, Token{Text: pieceText(p.text), Score: p.score})
		case 2:
			return eachField(v.bytes, func(num int, v field) error {
				switch num {
				case 46:
					bosPiece = string(v.bytes)
				case 47:
					eosPiece = string(v.bytes)
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return File{}, fault.Errorf(fault.Invalid, "tokenizer.model: %w", err)
	}
	bos, hasBOS := control[bosPiece]
	eos, hasEOS := control[eosPiece]
	if !hasBOS || !hasEOS {
		return File{}, fault.Errorf(fault.Invalid, "tokenizer.model: %d pieces, none is a control piece %q or none is %q", len(f.Tokens), bosPiece, eosPiece)
	}
	f.BOS, f.EOS = bos, []int{eos}
	return f, nil
}

type piece struct {
	text  string
	score float32
	kind  uint64
}

func readPiece(raw []byte, id int) (piece, error) {
	p := piece{kind: 1}
	err := eachField(raw, func(num int, v field) error {
		switch num {
		case 1:
			p.text = string(v.bytes)
		case 2:
			p.score = math.Float32frombits(uint32(v.number))
		case 3:
			p.kind = v.number
		}
		return nil
	})
	if err == nil && p.text == "" {
		err = fault.Errorf(fault.Invalid, "it has no text")
	}
	if err != nil {
		return piece{}, fault.Errorf(fault.Invalid, "piece %d: %w", id, err)
	}
	return p, nil
}

// pieceText returns the text of a piece: U+2581 is a space, <0xHH> a byte.
func pieceText(s string) string {
	if len(s) == 6 && strings.HasPrefix(s, "<0x") && s[5] == '>' {
		if b, err := strconv.ParseUint(s[3:5], 16, 8); err == nil {
			return string([]byte{byte(b)})
		}
	}
	return strings.ReplaceAll(s, "\u2581", " ")
}

// A field is one value of a protocol buffer: a number (varint, 32 or 64 bits)
// or bytes.
type field struct {
	number uint64
	bytes  []byte
}

// eachField visits the fields of one protocol buffer message.
func eachField(raw []byte, visit func(num int, v field) error) error {
	for at := 0; at < len(raw); {
		tag, n := binary.Uvarint(raw[at:])
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return fault.Errorf(fault.Invalid, "no field begins at byte %d", at)
		}
		begin := at
		at += n
		v, size, ok := readValue(int(tag&7), raw[at:])
		if !ok {
			return fault.Errorf(fault.Invalid, "field %d at byte %d is truncated or has an unknown type", tag>>3, begin)
		}
		at += size
		if err := visit(int(tag>>3), v); err != nil {
			return err
		}
	}
	return nil
}

func readValue(wire int, raw []byte) (v field, size int, ok bool) {
	switch wire {
	case 0:
		number, n := binary.Uvarint(raw)
		return field{number: number}, n, n > 0
	case 1:
		if len(raw) < 8 {
			return field{}, 0, false
		}
		return field{number: binary.LittleEndian.Uint64(raw)}, 8, true
	case 2:
		length, n := binary.Uvarint(raw)
		if n <= 0 || length > uint64(len(raw)-n) {
			return field{}, 0, false
		}
		return field{bytes: raw[n : n+int(length)]}, n + int(length), true
	case 5:
		if len(raw) < 4 {
			return field{}, 0, false
		}
		return field{number: uint64(binary.LittleEndian.Uint32(raw))}, 4, true
	}
	return field{}, 0, false
}
