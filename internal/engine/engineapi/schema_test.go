package engineapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/openai"
)

// strictly asks for an answer of a schema.
func strictly(schema string, strict bool) engineapi.Chat {
	format, _ := json.Marshal(map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "n", "strict": strict, "schema": json.RawMessage(schema)}})
	return engineapi.Chat{
		Operation: openai.OperationChat, Messages: []openai.Message{{Role: openai.User, Content: "Hi"}},
		Featured: map[string]json.RawMessage{"response_format": format},
	}
}

// TestServerAnswersFulfilSchemas checks the answers of servers that break the schema.
func TestServerAnswersFulfilSchemas(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	text := func(s string) string { return enginetest.TextChunk("/v1/chat/completions", s) }
	for name, c := range map[string]struct {
		events  []string
		lenient bool
		broken  bool
	}{
		"Good":     {events: []string{text(`{"n"`), text(`: 3} `), enginetest.Finish("stop")}},
		"Thoughts": {events: []string{text("<think>\nno\n</thi"), text("nk>\n\n{\"n\": 3}"), enginetest.Finish("stop")}},
		"Wrong":    {events: []string{text(`{"n":`), text(` "3"}`), enginetest.Finish("stop")}, broken: true},
		"NotJSON":  {events: []string{text("Sure: {\"n\": 3}"), enginetest.Finish("stop")}, broken: true},
		"Two":      {events: []string{text(`{"n": 3} {"n": 3}`), enginetest.Finish("stop")}, broken: true},
		"Empty":    {events: []string{enginetest.Finish("stop")}, broken: true},
		"Cut":      {events: []string{text(`{"n":`), enginetest.Finish("length")}},
		"Calls":    {events: []string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`, enginetest.Finish("stop")}},
		"Refusal":  {events: []string{`{"choices":[{"index":0,"delta":{"refusal":"no"}}]}`, enginetest.Finish("stop")}},
		"Lenient":  {events: []string{text("Sure"), enginetest.Finish("stop")}, lenient: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply {
				return enginetest.ServerReply{Events: c.events}
			})
			_, _, _, err := gather(t, serverClient(t, server.URL), strictly(schema, !c.lenient), engineapi.Options{})
			if errors.Is(err, engineapi.ErrSchema) != c.broken || !c.broken && err != nil {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// TestServerSchemasLoadNothing refuses schemas that cannot be checked, before the
// server gets the request.
func TestServerSchemasLoadNothing(t *testing.T) {
	for _, schema := range []string{`{"$ref":"file:///etc/passwd"}`, `{"$ref":"http://127.0.0.1:1/x"}`, `{"type":7}`, `{"pattern":"(?=a)"}`} {
		err := fails(t, serverClient(t, "http://127.0.0.1:1"), strictly(schema, true), engineapi.Options{})
		var e *openai.Error
		if !errors.As(err, &e) || e.Param != "response_format" || strings.Contains(e.Message, "root:") {
			t.Errorf("%s: err = %v", schema, err)
		}
	}
}

// TestServerSchemasEnd refuses what takes too long to check, for good: the answer of another
// server would take as long.
func TestServerSchemasEnd(t *testing.T) {
	doubling := func(keyword, leaf string) string {
		var all []string
		for i := range 60 {
			all = append(all, fmt.Sprintf(`"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i+1, i+1))
		}
		return `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(all, ",") + `,"d60":` + leaf + `}}`
	}
	for name, c := range map[string]struct{ schema, answer, want string }{
		"All":     {doubling("allOf", `{"type":"integer"}`), `3`, "takes more than 10000000 steps"},
		"None":    {doubling("anyOf", `{"type":"string"}`), `3`, "takes more than 10000000 steps"},
		"Older":   {strings.Replace(doubling("allOf", `{"type":"integer"}`), "{", `{"$schema":"http://json-schema.org/draft-07/schema#",`, 1), `3`, "takes more than 10000000 steps"},
		"Nested":  {`{"$defs":{"a":{"allOf":[{"items":{"$ref":"#/$defs/a"}},{"items":{"$ref":"#/$defs/a"}}]}},"$ref":"#/$defs/a"}`, strings.Repeat("[", 60) + strings.Repeat("]", 60), "takes more than 10000000 steps"},
		"Pattern": {`{"pattern":"(?:` + strings.Repeat("[a-z]", 190) + `){1000}"}`, `"a"`, "is too large"},
		"Long":    {`{"title":"` + strings.Repeat("t", 256<<10) + `"}`, `3`, "want at most 262144"},
	} {
		t.Run(name, func(t *testing.T) {
			server := enginetest.StartServer(t, func(enginetest.ServerRequest) enginetest.ServerReply {
				return enginetest.ServerReply{Events: []string{enginetest.TextChunk("/v1/chat/completions", c.answer), enginetest.Finish("stop")}}
			})
			_, _, _, err := gather(t, serverClient(t, server.URL), strictly(c.schema, true), engineapi.Options{})
			var e *openai.Error
			if !errors.As(err, &e) || e.Status != 400 || e.Param != "response_format" || !strings.Contains(e.Message, c.want) {
				t.Errorf("err = %v", err)
			}
		})
	}
}
