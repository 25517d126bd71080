package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A TokenLogprob is an entry of Logprobs, or one of its TopLogprobs.
type TokenLogprob struct {
	Token   string  `json:"token"` // with U+FFFD for a part of a character
	Logprob float64 `json:"logprob"`
	// Bytes are the token's own: those of all tokens together are the text.
	Bytes       []int           `json:"bytes"`
	TopLogprobs *[]TokenLogprob `json:"top_logprobs,omitempty"` // the best first; nil in an entry of TopLogprobs
}

// leastLogprob stands for all that is less, as in OpenAI's API: JSON has no
// infinity.
const leastLogprob = -9999

// NewTokenLogprob returns the entry of a token whose text may be a part of a
// character.
func NewTokenLogprob(text string, logprob float64) TokenLogprob {
	t := TokenLogprob{Token: strings.ToValidUTF8(text, "\ufffd"), Logprob: max(logprob, leastLogprob), Bytes: make([]int, 0, len(text))}
	for i := range len(text) {
		t.Bytes = append(t.Bytes, int(text[i]))
	}
	return t
}

// text returns the bytes of the token, or its name if an engine left them out.
func (t TokenLogprob) text() string {
	if len(t.Bytes) == 0 {
		return t.Token
	}
	b := make([]byte, len(t.Bytes))
	for i, v := range t.Bytes {
		b[i] = byte(v)
	}
	return string(b)
}

// With returns the entry of a token in an answer with its alternatives, which may
// be none.
func (t TokenLogprob) With(top []TokenLogprob) TokenLogprob {
	if top == nil {
		top = []TokenLogprob{}
	}
	t.TopLogprobs = &top
	return t
}

// Add appends the entry of a token of the text.
func (l *Logprobs) Add(t TokenLogprob) {
	if raw, err := Encode(t); err == nil { // always, for a finite number
		l.Content = append(l.Content, raw)
	}
}

// CompletionLogprobs are the log probabilities in the answer to a completion.
type CompletionLogprobs struct {
	Tokens        []string              `json:"tokens"`
	TokenLogprobs []*float64            `json:"token_logprobs"` // null where an engine has none
	TopLogprobs   []map[string]*float64 `json:"top_logprobs"`   // by token
	TextOffset    []int                 `json:"text_offset"`    // of each token in the text, in characters
}

// textOffset counts the characters of tokens.
type textOffset int

// completion returns the log probabilities of a piece of an answer in the form of
// completions, or nil.
func (o *textOffset) completion(l *Logprobs) *CompletionLogprobs {
	if l == nil {
		return nil
	}
	out := &CompletionLogprobs{Tokens: []string{}, TokenLogprobs: []*float64{}, TopLogprobs: []map[string]*float64{}, TextOffset: []int{}}
	for _, raw := range l.Content {
		var t TokenLogprob
		if json.Unmarshal(raw, &t) != nil {
			continue // impossible for what an engine's client has read
		}
		top := map[string]*float64{}
		if t.TopLogprobs != nil {
			for _, a := range *t.TopLogprobs {
				top[a.Token] = &a.Logprob
			}
		}
		out.Tokens, out.TokenLogprobs = append(out.Tokens, t.Token), append(out.TokenLogprobs, &t.Logprob)
		out.TopLogprobs, out.TextOffset = append(out.TopLogprobs, top), append(out.TextOffset, o.next(t.text()))
	}
	return out
}

// next returns the offset of a token, and counts the characters that begin in it.
func (o *textOffset) next(token string) int {
	at := int(*o)
	continues := func(b byte) bool { return b&0xC0 == 0x80 }
	if len(token) > 0 && continues(token[0]) && at > 0 {
		at-- // the token before began this character
	}
	for i := range len(token) {
		if !continues(token[i]) {
			*o++
		}
	}
	return at
}

// Content returns the log probabilities in the form of chats.
func (c CompletionLogprobs) Content() *Logprobs {
	l := &Logprobs{}
	for i, token := range c.Tokens {
		if i >= len(c.TokenLogprobs) || c.TokenLogprobs[i] == nil {
			continue // as the first token of a repeated prompt
		}
		var top []TokenLogprob
		if i < len(c.TopLogprobs) {
			for name, p := range c.TopLogprobs[i] {
				if p != nil {
					top = append(top, NewTokenLogprob(name, *p))
				}
			}
		}
		slices.SortFunc(top, func(a, b TokenLogprob) int {
			return cmp.Or(-cmp.Compare(a.Logprob, b.Logprob), cmp.Compare(a.Token, b.Token))
		})
		l.Add(NewTokenLogprob(token, *c.TokenLogprobs[i]).With(top))
	}
	return l
}
