// Package tokenizer reads and writes the .t tokenizer files of
// distributed-llama, converts Hugging Face tokenizers to them, and converts
// text to tokens and back.
//
// A .t file has tokens and scores. It lacks how the original tokenizer
// normalizes text, splits it into words and joins tokens, and which tokens are
// control tokens. A conversion writes that to a file of rules beside it (see
// Rules): dllama_tokenizer_NAME.rules.json for dllama_tokenizer_NAME.t.
package tokenizer

// A Token is one entry of the vocabulary; its id is its index.
type Token struct {
	Text  string // bytes, not always valid UTF-8
	Score float32
}

// A File is the content of a .t file.
type File struct {
	Tokens       []Token
	BOS          int   // begins every text
	EOS          []int // each ends an answer
	AddBOS       bool
	ChatTemplate string // in Jinja, or ""
}

// MaxTokenLength returns the length of the longest token in bytes.
func (f File) MaxTokenLength() int {
	n := 0
	for _, t := range f.Tokens {
		n = max(n, len(t.Text))
	}
	return n
}

// Magic numbers of the format, and of the older one with five fixed numbers.
const (
	magic    = 0x567124
	oldMagic = 0x567123
)

// The keys of the header pairs.
const (
	keyVersion      = 0
	keyVocabSize    = 1
	keyMaxLength    = 2
	keyBOS          = 3
	keyEOS          = 4 // legacy: one more end token
	keyPad          = 5 // not used
	keyChatEOS      = 6 // legacy: one more end token
	keyChatTemplate = 7 // length in bytes
	keyChatStop     = 8 // length of bytes to skip
	keyEOSCount     = 9
	keyAddBOS       = 10
	numKeys         = 11
)

// Limits for hostile files.
const (
	maxPairs    = 64
	maxVocab    = 1 << 24
	maxToken    = 1 << 16
	maxTemplate = 1 << 24
	maxEOS      = 1 << 12
)

// TurnEnd returns the text of the token that ends a turn of a conversation:
// <|eot_id|> if it is one of the end tokens, else the first of these. Llama 3.1
// lists <|end_of_text|> first, which ends documents and not turns.
func (f File) TurnEnd() string {
	const turn = "<|eot_id|>"
	for _, id := range f.EOS {
		if f.Tokens[id].Text == turn {
			return turn
		}
	}
	return f.Tokens[f.EOS[0]].Text
}
