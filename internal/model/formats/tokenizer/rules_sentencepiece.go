package tokenizer

import (
	"encoding/json"

	"github.com/gorizond/koldun/internal/fault"
)

// Types of pieces (sentencepiece_model.proto, ModelProto.SentencePiece.Type);
// pieceControl is another.
const (
	pieceUnknown     = 2
	pieceUserDefined = 4
	pieceByte        = 6
)

// algorithmBPE is the model type (TrainerSpec.ModelType) that the rules know.
const algorithmBPE = 2

// A sentencePieceSpec holds the settings that decide how text is encoded.
type sentencePieceSpec struct {
	algorithm    uint64 // 1 if not stated: unigram
	charsMap     bool   // a table of characters to replace
	dummyPrefix  bool
	trimSpaces   bool
	escapeSpaces bool
	suffixSpaces bool
}

// rulesOfSentencePiece returns the rules of tokenizer.model. Its tokens join by
// score, which the .t file has.
func rulesOfSentencePiece(raw []byte) (*Rules, error) {
	spec := sentencePieceSpec{algorithm: 1, dummyPrefix: true, trimSpaces: true, escapeSpaces: true}
	r := &Rules{Model: Scores, Spaces: true}
	bytes := map[byte]int32{}
	id := int32(0)
	err := eachField(raw, func(num int, v field) error {
		switch num {
		case 1:
			p, err := readPiece(v.bytes, int(id))
			if err != nil {
				return err
			}
			r.addPiece(p, id, bytes)
			id++
		case 2:
			return spec.readTrainer(v.bytes)
		case 3:
			return spec.readNormalizer(v.bytes)
		}
		return nil
	})
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "tokenizer.model: %w", err)
	}
	if spec.algorithm != algorithmBPE || spec.charsMap || spec.trimSpaces || !spec.escapeSpaces || spec.suffixSpaces {
		return nil, fault.Errorf(fault.Unsupported, "tokenizer.model: it is not a BPE model that keeps all characters and spaces (%+v)", spec)
	}
	if len(bytes) == 256 {
		for b := range 256 {
			r.ByteTokens = append(r.ByteTokens, bytes[byte(b)])
		}
	}
	r.FuseUnknown = true
	r.Normalizer = spec.normalizer()
	return r, nil
}

func (r *Rules) addPiece(p piece, id int32, bytes map[byte]int32) {
	switch p.kind {
	case pieceControl:
		r.Added = append(r.Added, AddedToken{ID: id, Text: p.text, Control: true})
	case pieceUnknown:
		r.Added = append(r.Added, AddedToken{ID: id, Text: p.text, Control: true})
		r.Unknown = &id
	case pieceUserDefined:
		r.Added = append(r.Added, AddedToken{ID: id, Normalized: true, Find: p.text})
	case pieceByte:
		if text := pieceText(p.text); len(text) == 1 {
			bytes[text[0]] = id
		}
	}
}

func (s *sentencePieceSpec) readTrainer(raw []byte) error {
	return eachField(raw, func(num int, v field) error {
		switch num {
		case 3:
			s.algorithm = v.number
		case 24:
			s.suffixSpaces = v.number != 0
		}
		return nil
	})
}

func (s *sentencePieceSpec) readNormalizer(raw []byte) error {
	return eachField(raw, func(num int, v field) error {
		switch num {
		case 2:
			s.charsMap = len(v.bytes) > 0
		case 3:
			s.dummyPrefix = v.number != 0
		case 4:
			s.trimSpaces = v.number != 0
		case 5:
			s.escapeSpaces = v.number != 0
		}
		return nil
	})
}

// normalizer writes spaces as the pieces have them.
func (s *sentencePieceSpec) normalizer() json.RawMessage {
	const replace = `{"type":"Replace","pattern":{"String":" "},"content":"` + space + `"}`
	if !s.dummyPrefix {
		return json.RawMessage(replace)
	}
	return json.RawMessage(`{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"` + space + `"},` + replace + `]}`)
}
