package responses

import (
	"encoding/json"
	"slices"

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
	if len(r.Input)+len(response.Output) > maxHistory {
		return nil, openai.BadRequest("previous_response_id", openai.CodeInvalidValue, "the previous response has too many items: begin another conversation")
	}
	items := make([]Item, 0, len(r.Input)+len(response.Output))
	for _, raw := range slices.Concat(r.Input, response.Output) {
		o := openai.NewObject(raw)
		items = append(items, parseItem(o))
		if o.Err() != nil {
			return nil, o.Err()
		}
	}
	return items, nil
}
