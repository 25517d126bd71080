package bus

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Most messages by far are frames with a piece of text, and encoding/json would
// spend several times what everything else about them costs. So those have an
// encoder and a decoder of their own; what they write and read is what
// encoding/json would.

// appendFrame appends the JSON of a frame to b.
func appendFrame(b []byte, f Frame) ([]byte, error) {
	if !f.isPlainText() {
		data, err := json.Marshal(f)
		return append(b, data...), err
	}
	b = append(b, `{"request":"`...)
	b = append(b, f.Request...)
	if f.Epoch != 0 {
		b = append(b, `","epoch":`...)
		b = strconv.AppendUint(b, f.Epoch, 10)
		b = append(b, `,"attempt":`...)
	} else {
		b = append(b, `","attempt":`...)
	}
	b = strconv.AppendInt(b, int64(f.Attempt), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, int64(f.Seq), 10)
	b = append(b, `,"kind":"delta","text":`...)
	b, err := appendText(b, f.Text)
	return append(b, '}'), err
}

// isPlainText reports whether a frame has nothing but text to tell.
func (f Frame) isPlainText() bool {
	return f.Kind == FrameDelta && f.Text != "" && IsToken(f.Request) &&
		f.FinishReason == "" && f.Usage == nil && f.Position == 0 && f.Wait == 0 && f.Error == nil && f.Ignored == nil
}

// appendText appends a JSON string. Text without anything to escape, nearly all
// of it, is copied.
func appendText(b []byte, text string) ([]byte, error) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' {
			data, err := json.Marshal(text)
			return append(b, data...), err
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"'), nil
}

// decodeFrame reads the JSON of a frame. Those of the request id are expected.
func decodeFrame(data []byte, id string) (Frame, error) {
	if f, ok := quickFrame(data, id); ok {
		return f, nil
	}
	var f Frame
	err := json.Unmarshal(data, &f)
	return f, err
}

// quickFrame reads what appendFrame has written by itself, and nothing else.
func quickFrame(data []byte, id string) (f Frame, ok bool) {
	f = Frame{Request: id, Kind: FrameDelta}
	rest, ok := bytes.CutPrefix(data, []byte(`{"request":"`))
	if !ok || len(rest) < len(id) || string(rest[:len(id)]) != id {
		return f, false
	}
	rest = rest[len(id):]
	if after, has := bytes.CutPrefix(rest, []byte(`","epoch":`)); has {
		if f.Epoch, rest, ok = number(after); !ok {
			return f, false
		}
		rest, ok = bytes.CutPrefix(rest, []byte(`,"attempt":`))
	} else {
		rest, ok = bytes.CutPrefix(rest, []byte(`","attempt":`))
	}
	if !ok {
		return f, false
	}
	attempt, rest, ok := number(rest)
	if !ok {
		return f, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`)); !ok {
		return f, false
	}
	seq, rest, ok := number(rest)
	if !ok {
		return f, false
	}
	f.Attempt, f.Seq = int(attempt), int(seq)
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"kind":"delta","text":"`)); !ok {
		return f, false
	}
	text, ok := bytes.CutSuffix(rest, []byte(`"}`))
	if !ok {
		return f, false
	}
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return f, false
		}
	}
	f.Text = string(text)
	return f, true
}

// number reads a decimal number of at most 18 digits without leading zeros.
func number(b []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + uint64(b[i]-'0')
	}
	if i == 0 || i > 18 || i > 1 && b[0] == '0' {
		return 0, nil, false
	}
	return n, b[i:], true
}
