package responses

import (
	"encoding/base64"
	"encoding/json"

	"github.com/gorizond/koldun/internal/openai"
)

// summaryIntro precedes the summary that stands for compacted items.
const summaryIntro = "Summary of the conversation so far:\n"

// summaryTask is the last message of the chat that makes a summary.
const summaryTask = "Summarize this conversation for yourself: state facts, decisions, names, figures and open questions that its next turns need. Write only the summary."

// ParseCompact reads and validates the body of POST /v1/responses/compact.
func ParseCompact(body []byte) (*Request, error) {
	o, err := openai.ParseObject(body)
	if err != nil {
		return nil, err
	}
	r := &Request{choice: choice{mode: "none"}, parallel: true, text: Text{Format: Format{Type: "text"}}, metadata: map[string]string{}}
	r.parseCommon(o)
	if o.Err() != nil {
		return nil, o.Err()
	}
	return r, nil
}

// Summarize returns the chat that compacts the items.
func (r *Request) Summarize(items []Item) (openai.ChatRequest, error) {
	return r.Chat(append(items[:len(items):len(items)], userMessage(summaryTask)))
}

// A Compaction is the answer to POST /v1/responses/compact.
type Compaction struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"` // "response.compaction"
	Created int64            `json:"created_at"`
	Output  []compactionItem `json:"output"`
	Usage   *Usage           `json:"usage"`
}

type compactionItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Content string `json:"encrypted_content"`
}

// NewCompaction is a complete answer, with one item that stands for all items of the
// input.
func NewCompaction(o Options, summary string, usage *openai.Usage) Compaction {
	return Compaction{
		ID: "resp_" + o.ID, Object: "response.compaction", Created: o.Created, Usage: newUsage(usage),
		Output: []compactionItem{{Type: KindCompaction, ID: "cmp_" + o.ID, Content: compacted{Version: 1, Summary: summary}.encode()}},
	}
}

// compacted is what the content of a compaction holds. It is not encrypted: it comes
// from the client's conversation, and the client could send the same as a message.
type compacted struct {
	Version int    `json:"version"`
	Summary string `json:"summary"`
}

func (item *Item) parseCompaction(o openai.Object) {
	text, _ := o.Text("encrypted_content")
	var content compacted
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &content) != nil || content.Version != 1 {
		o.Fail("encrypted_content", openai.CodeInvalidValue, "%s is not what this server gave as the content of a compaction")
	}
	item.Text = content.Summary
}
