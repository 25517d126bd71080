package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/embedded"
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

func embed(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	resp, err := waittest.Client().Post(url+"/v1/embeddings", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp, read(t, resp)
}

func TestEmbeddings(t *testing.T) {
	s := serve(t, says(llama.FinishStop), api.Options{Slots: 2})
	answer := func(tokens string, vectors ...string) string {
		var data []string
		for i, v := range vectors {
			data = append(data, `{"object":"embedding","index":`+string(rune('0'+i))+`,"embedding":`+v+`}`)
		}
		return `{"object":"list","data":[` + strings.Join(data, ",") + `],"model":"tiny.m","usage":{"prompt_tokens":` + tokens + `,"total_tokens":` + tokens + `}}`
	}
	cases := map[string]struct{ body, want string }{
		"Text":       {`{"input":"ab"}`, answer("2", "[3,4,2,0]")},
		"Texts":      {`{"input":["a","abc","ab"],"encoding_format":"float"}`, answer("6", "[3,4,1,0]", "[3,4,3,0]", "[3,4,2,0]")},
		"Tokens":     {`{"input":[7,8,9]}`, answer("3", "[3,4,3,0]")},
		"TokenLists": {`{"input":[[7],[8,9]]}`, answer("3", "[3,4,1,0]", "[3,4,2,0]")},
		"Shortened":  {`{"input":"a","dimensions":2}`, answer("1", "[0.6,0.8]")},
		"Base64":     {`{"input":"a","dimensions":2,"encoding_format":"base64"}`, answer("1", `"mpkZP83MTD8="`)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, body := embed(t, s.URL, c.body)
			if d := cmp.Diff(c.want, body); d != "" || resp.StatusCode != http.StatusOK {
				t.Errorf("status %d (-want +got):\n%s", resp.StatusCode, d)
			}
		})
	}
	refused := map[string]struct{ body, param, says string }{
		"Empty":      {`{"input":["a",""]}`, "input[1]", "must not be empty"},
		"TooLong":    {`{"input":["a","` + strings.Repeat("a", 101) + `"]}`, "input", "101 tokens"},
		"Dimensions": {`{"input":"a","dimensions":5}`, "dimensions", "at most 4"},
		"TooMany":    {`{"input":[` + strings.Repeat(`"a",`, 2048) + `"a"]}`, "input", "2048"},
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			resp, body := embed(t, s.URL, c.body)
			e := &openai.Error{}
			if err := json.Unmarshal([]byte(body), e); err != nil || resp.StatusCode != http.StatusBadRequest || e.Param != c.param || !strings.Contains(e.Message, c.says) {
				t.Errorf("status %d: %s", resp.StatusCode, body)
			}
		})
	}
}

// The engine announces what its description lists, by which docs and gateways know it.
func TestAnnouncesItsDescription(t *testing.T) {
	s := serve(t, says(llama.FinishStop), api.Options{})
	resp, _ := post(t, s.URL, hello)
	about := embedded.Engine()
	if d := cmp.Diff(strings.Join(about.Operations, ", "), resp.Header.Get(openai.HeaderOperations)); d != "" {
		t.Errorf("operations (-described +announced):\n%s", d)
	}
	if d := cmp.Diff(strings.Join(about.Features, ", "), resp.Header.Get(openai.HeaderFeatures)); d != "" {
		t.Errorf("features (-described +announced):\n%s", d)
	}
}
