package messages

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/openai"
)

// HeaderVersion is in each request of clients of this API.
const HeaderVersion = "Anthropic-Version"

// A Model is one entry of the models list.
type Model struct {
	Type           string    `json:"type"` // "model"
	ID             string    `json:"id"`
	DisplayName    string    `json:"display_name"`
	Created        time.Time `json:"created_at"` // the epoch if it is not known
	MaxInputTokens *int      `json:"max_input_tokens"`
	MaxTokens      *int      `json:"max_tokens"`
}

// NewModel describes a model as this API does.
func NewModel(m openai.Model) Model {
	out := Model{Type: "model", ID: m.ID, DisplayName: m.Name, Created: time.Unix(m.Created, 0).UTC()}
	if m.ContextLength > 0 {
		out.MaxInputTokens, out.MaxTokens = &m.ContextLength, &m.ContextLength
	}
	return out
}

// A ModelList is one page of models.
type ModelList struct {
	Data    []Model `json:"data"`
	HasMore bool    `json:"has_more"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
}

// NewModelList returns the page that a query asks for, by limit, after_id and before_id: all
// models without a limit.
func NewModelList(all []openai.Model, query url.Values) (ModelList, *openai.Error) {
	list := ModelList{Data: []Model{}}
	for _, m := range all {
		list.Data = append(list.Data, NewModel(m))
	}
	at := func(id string) int { return slices.IndexFunc(list.Data, func(m Model) bool { return m.ID == id }) }
	before := query.Get("before_id")
	if i := at(before); before != "" && i >= 0 {
		list.Data = list.Data[:i]
	}
	if i := at(query.Get("after_id")); i >= 0 {
		list.Data = list.Data[i+1:]
	}
	if text := query.Get("limit"); text != "" {
		limit, err := strconv.Atoi(text)
		if err != nil || limit < 1 || limit > 1000 {
			return ModelList{}, openai.BadRequest("limit", openai.CodeInvalidValue, "'limit' must be between 1 and 1000")
		}
		if list.HasMore = len(list.Data) > limit; list.HasMore && before != "" {
			list.Data = list.Data[len(list.Data)-limit:]
		} else if list.HasMore {
			list.Data = list.Data[:limit]
		}
	}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return list, nil
}
