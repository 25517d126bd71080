package messages

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/gorizond/koldun/internal/openai"
)

// TestModelList holds that a query pages through all models in both directions.
func TestModelList(t *testing.T) {
	all := []openai.Model{{ID: "n/a", Name: "a", ContextLength: 512}, {ID: "n/b", Name: "b"}, {ID: "n/c", Name: "c"}}
	for query, want := range map[string]string{
		"": "n/a n/b n/c false", "limit=2": "n/a n/b true", "limit=2&after_id=n/b": "n/c false", "limit=1&before_id=n/c": "n/b true",
		"before_id=n/a": "false", "limit=3": "n/a n/b n/c false",
	} {
		values, _ := url.ParseQuery(query)
		list, refused := NewModelList(all, values)
		if refused != nil {
			t.Fatalf("%q: %v", query, refused)
		}
		got := ""
		for _, m := range list.Data {
			got += m.ID + " "
		}
		if got += strconv.FormatBool(list.HasMore); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
		if n := len(list.Data); n > 0 && (*list.FirstID != list.Data[0].ID || *list.LastID != list.Data[n-1].ID) {
			t.Errorf("%q: from %s to %s", query, *list.FirstID, *list.LastID)
		}
	}
	for _, limit := range []string{"0", "-1", "x", "1001"} {
		if _, refused := NewModelList(all, url.Values{"limit": {limit}}); refused == nil || refused.Param != "limit" {
			t.Errorf("limit %s: %v", limit, refused)
		}
	}
}
