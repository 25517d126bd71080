package responses

import (
	"encoding/json"

	"github.com/gorizond/koldun/internal/openai"
)

// A Record is a response as it is stored.
type Record struct {
	// Input is the whole input, with that of earlier responses.
	Input    []json.RawMessage `json:"input"`
	Response json.RawMessage   `json:"response"`
}

// NewRecord returns what is stored of a response to the given input: only what the model
// reads.
func NewRecord(input []Item, r *Response) *Record {
	record := &Record{Input: make([]json.RawMessage, 0, len(input)), Response: encode(r)}
	for _, item := range input {
		if stored, ok := item.stored(); ok {
			record.Input = append(record.Input, stored)
		}
	}
	return record
}

// Size returns the bytes of the record.
func (r *Record) Size() int64 {
	n := len(r.Response)
	for _, item := range r.Input {
		n += len(item)
	}
	return int64(n)
}

// Items returns input and output.
func (r *Record) Items() ([]Item, error) {
	var response struct {
		Output []json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(r.Response, &response); err != nil {
		return nil, openai.BadRequest("previous_response_id", openai.CodeInvalidValue, "the stored response cannot be read: "+err.Error())
	}
	o := openai.NewObject("previous_response_id", json.RawMessage("{}"))
	items := append(parseItems(o, "input", r.Input), parseItems(o, "output", response.Output)...)
	return items, o.Err()
}
