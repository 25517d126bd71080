package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/serving/gateway/openresponsestest"
)

// wantSchema validates a value against a schema of the specification.
func wantSchema(t *testing.T, name, value string) {
	t.Helper()
	if err := openresponsestest.Check(name, value); err != nil {
		t.Error(err)
	}
}

// A responseEvent is an event of a streamed response.
type responseEvent struct {
	Type         string
	Sequence     int `json:"sequence_number"`
	Response     responseObject
	Item         responseItem
	ItemID       string `json:"item_id"`
	OutputIndex  *int   `json:"output_index"`
	ContentIndex *int   `json:"content_index"`
	Delta        string
	Text         string
	Arguments    string
	Error        struct{ Type, Code, Message string }
}

// A responseObject holds what tests look at.
type responseObject struct {
	ID, Object, Status, Model, Truncation string
	PreviousID                            string                   `json:"previous_response_id"`
	Incomplete                            *struct{ Reason string } `json:"incomplete_details"`
	Output                                []responseItem
	Error                                 *struct{ Code, Message string }
	Store                                 bool
	Temperature                           float64
	ToolChoice                            json.RawMessage `json:"tool_choice"`
	Text                                  json.RawMessage
	Metadata                              map[string]string
	Usage                                 *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	}
}

type responseItem struct {
	Type, ID, Status, Role, Name, Arguments string
	CallID                                  string `json:"call_id"`
	Content                                 []struct {
		Type, Text, Refusal string
		Logprobs            []struct {
			Token string
			Bytes []int
		}
	}
}

// wantResponse validates a response object and decodes it.
func wantResponse(t *testing.T, body string) responseObject {
	t.Helper()
	wantSchema(t, "ResponseResource", body)
	var r responseObject
	decode(t, body, &r)
	return r
}

// wantEvents validates a stream: each event by its schema, its name, and the order
// that the specification gives events.
func wantEvents(t *testing.T, body string) []responseEvent {
	t.Helper()
	var data []string
	done := false
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		if strings.HasPrefix(block, ":") {
			continue
		}
		if done = block == "data: [DONE]"; done {
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		var e responseEvent
		decode(t, rest, &e)
		if e.Type != name {
			t.Errorf("event %q has the type %q", name, e.Type)
		}
		data = append(data, rest)
	}
	if !done {
		t.Errorf("no [DONE] at the end of %s", body)
	}
	return wantEventData(t, data)
}

// wantEventData is wantEvents for events without their frames.
func wantEventData(t *testing.T, all []string) []responseEvent {
	t.Helper()
	var events []responseEvent
	for i, data := range all {
		var e responseEvent
		decode(t, data, &e)
		if err := openresponsestest.CheckEvent(data); err != nil {
			t.Fatal(err)
		}
		if e.Sequence != i {
			t.Errorf("event %d has the number %d", i, e.Sequence)
		}
		events = append(events, e)
	}
	if len(events) < 3 || events[0].Type != "response.created" || events[1].Type != "response.in_progress" {
		t.Fatalf("a stream begins with %s", strings.Join(all, "\n"))
	}
	wantItems(t, events)
	return events
}

// wantItems checks that the events of an item add up to it, and that the last event
// has all items.
func wantItems(t *testing.T, events []responseEvent) {
	t.Helper()
	open, texts, arguments := map[int]string{}, map[string]string{}, map[string]string{}
	var done []responseItem
	last := events[len(events)-1]
	for _, e := range events {
		switch {
		case e.Type == "response.output_item.added":
			if *e.OutputIndex != len(open) || e.Item.Status != "in_progress" {
				t.Errorf("item %d is added at %d: %+v", len(open), *e.OutputIndex, e.Item)
			}
			open[*e.OutputIndex] = e.Item.ID
		case e.Type == "response.output_item.done":
			if open[*e.OutputIndex] != e.Item.ID {
				t.Errorf("item %s ends, but not at its place", e.Item.ID)
			}
			var text string
			for _, part := range e.Item.Content {
				text += part.Text + part.Refusal
			}
			if text != texts[e.Item.ID] || e.Item.Arguments != arguments[e.Item.ID] {
				t.Errorf("the deltas of %+v add up to %q and %q", e.Item, texts[e.Item.ID], arguments[e.Item.ID])
			}
			done = append(done, e.Item)
		case e.Type == "response.function_call_arguments.delta":
			arguments[e.ItemID] += e.Delta
		case strings.HasSuffix(e.Type, ".delta"):
			texts[e.ItemID] += e.Delta
		}
	}
	if last.Type == "response.failed" {
		return
	}
	if last.Type != "response."+last.Response.Status || len(last.Response.Output) != len(done) {
		t.Errorf("the stream ends with %+v after the items %+v", last, done)
	}
}
