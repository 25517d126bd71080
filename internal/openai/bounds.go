package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of what parsing makes of a body. A value takes many times its bytes once it
// is one of a list, so lists are bounded while they are read, and all together by
// maxValues. Texts take their own bytes.
const (
	maxValues   = 1 << 16 // fields and items of lists that are read of one body
	maxFields   = 128     // of one object
	maxUnknown  = 64      // fields of one object that are not known here
	maxMessages = 16384
	maxParts    = 4096 // of one message
	maxTools    = 1024
	maxStops    = 16 // stop sequences; OpenAI allows 4
	maxWords    = 16 // of a list of words
)

// check returns an error unless a body is JSON in UTF-8, as RFC 8259 wants it. Other bytes
// would take three times their space.
func check(body []byte) *Error {
	switch {
	case !utf8.Valid(body):
		return BadRequest("", CodeInvalidJSON, "the body is not valid JSON: it is not in UTF-8")
	case !json.Valid(body):
		return BadRequest("", CodeInvalidJSON, "the body is not valid JSON: "+syntax(body))
	}
	return nil
}

func syntax(body []byte) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return "it is empty"
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err.Error()
	}
	return "it cannot be read"
}

// spend counts a value, and fails if the body has too many.
func (f *fields) spend() bool {
	if f.err != nil {
		return false
	}
	if *f.left--; *f.left < 0 {
		f.fail("", CodeInvalidValue, fmt.Sprintf("%%s is too long a list here: a request must not have more than %d values", maxValues))
		return false
	}
	return true
}

// The most bytes of the texts in an error that a client may have written.
const (
	mostParam   = 200
	mostMessage = 1000
)

// cut shortens a text to at most so many bytes, and a mark.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Parsed is how many times its bytes a body takes at most while it is read and written for
// the queue, garbage included. TestParsingIsBounded measures it.
const Parsed = 16
