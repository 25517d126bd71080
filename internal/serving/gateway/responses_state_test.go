package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/gateway/responsestore"
	"github.com/gorizond/koldun/internal/serving/registry"
	"github.com/gorizond/koldun/test/waittest"
)

// storing is the configuration of a gateway that stores responses.
func storing(t *testing.T, w *world, change func(*Config)) *world {
	t.Helper()
	cfg := Config{ResponsesTTL: time.Hour, ResponsesMaxBytes: 1 << 20}
	if err := responsestore.Ensure(t.Context(), w.bus, cfg.ResponsesMaxBytes); err != nil {
		t.Fatal(err)
	}
	return w.another(func(c *Config, _ *timing) {
		c.ResponsesTTL, c.ResponsesMaxBytes = cfg.ResponsesTTL, cfg.ResponsesMaxBytes
		if change != nil {
			change(c)
		}
	})
}

func TestStoredResponses(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, callsTools)
	w = storing(t, w, nil)
	const tools = `,"tools":[{"type":"function","name":"weather"},{"type":"function","name":"time"}]`
	ask := func(body string) responseObject {
		t.Helper()
		r, got := w.do("POST", responsesPath, body)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, got)
		}
		return wantResponse(t, got)
	}
	refused := func(method, path, body, code string) {
		t.Helper()
		r, got := w.do(method, path, body)
		if e := decodeError(t, got); r.StatusCode/100 != 4 || e.Code != code {
			t.Errorf("%s %s %s: %d %s", method, path, body, r.StatusCode, got)
		}
	}
	first := ask(responseBody(tools + `,"instructions":"be brief"`))
	if !first.Store {
		t.Fatalf("got %+v", first)
	}
	outputs := `[{"type":"function_call_output","call_id":"call_1","output":"1"},{"type":"function_call_output","call_id":"call_2","output":"2"}]`
	second := ask(`{"model":"tiny","input":` + outputs + `,"previous_response_id":"` + first.ID + `"}`)
	third := ask(`{"model":"tiny","previous_response_id":"` + second.ID + `","store":false,"input":` +
		strings.Replace(outputs, "[", `[{"type":"item_reference","id":"`+first.Output[1].ID+`"},`, 1) + `}`)
	const turn = `{"content":"Let me","reasoning_content":"Hm.","role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Brno\"}"}},{"id":"call_2","type":"function","function":{"name":"time","arguments":"{}"}}]}`
	const answers = `{"role":"tool","content":"1","tool_call_id":"call_1"},{"role":"tool","content":"2","tool_call_id":"call_2"}`
	const before = `{"messages":[{"role":"user","content":"hello"},` + turn + `,` + answers
	seen := runner.seen()
	if d := cmp.Diff(before+`],"model":"default/tiny"}`, string(seen[1].Body)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before+`,`+turn+`,{"role":"assistant","content":"Let me"},`+answers+`],"model":"default/tiny"}`, string(seen[2].Body)); d != "" {
		t.Error(d)
	}
	if second.PreviousID != first.ID || third.Store {
		t.Errorf("second %+v, third %+v", second, third)
	}
	refused("POST", responsesPath, responseBody(`,"previous_response_id":"`+third.ID+`"`), "previous_response_not_found")
	refused("POST", responsesPath, responseBody(`,"previous_response_id":"a.b > *"`), "previous_response_not_found")
	refused("GET", responsesPath+"/"+third.ID, "", "response_not_found")
	if r, got := w.do("GET", responsesPath+"/"+first.ID, ""); r.StatusCode != http.StatusOK || wantResponse(t, got).ID != first.ID {
		t.Errorf("%d %s", r.StatusCode, got)
	}
	if r, got := w.do("DELETE", responsesPath+"/"+first.ID, ""); r.StatusCode != http.StatusOK || got != `{"deleted":true,"id":"`+first.ID+`","object":"response"}`+"\n" {
		t.Errorf("%d %s", r.StatusCode, got)
	}
	refused("DELETE", responsesPath+"/"+first.ID, "", "response_not_found")
	wantTTLs(t, w, first.ID, second.ID)
}

// wantTTLs holds that a response expires after the TTL of its gateway, and what is left
// of a deleted one long before, in a bucket with a size.
func wantTTLs(t *testing.T, w *world, deleted, kept string) {
	t.Helper()
	stream, err := w.bus.JetStream().Stream(t.Context(), names.KVStream(names.ResponsesBucket))
	if err != nil {
		t.Fatal(err)
	}
	if c := stream.CachedInfo().Config; c.MaxAge != 0 || c.MaxBytes != 1<<20 {
		t.Errorf("the bucket keeps all for %v, %d bytes", c.MaxAge, c.MaxBytes)
	}
	for id, want := range map[string]string{kept: "1h0m0s", deleted: "1m0s"} {
		m, err := stream.GetLastMsgForSubject(t.Context(), names.KVSubject(names.ResponsesBucket, names.ResponseKey("*", id)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Header.Get(jetstream.MsgTTLHeader); got != want {
			t.Errorf("the TTL of %s is %q, want %q", id, got, want)
		}
	}
}

// TestStoredResponsesBelongToATenant holds that no other token reaches a response.
func TestStoredResponsesBelongToATenant(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("4"))
	w = storing(t, w, func(c *Config) { c.AllowAnonymous = false })
	for _, token := range []string{"one-token-of-a-test", "two-token-of-a-test"} {
		w.putToken(registry.Token{SHA256: digest(token), Namespace: "default"})
	}
	_, body := w.do("POST", responsesPath, responseBody(""), "Authorization", "Bearer one-token-of-a-test")
	id := wantResponse(t, body).ID
	for token, want := range map[string]int{"one-token-of-a-test": http.StatusOK, "two-token-of-a-test": http.StatusBadRequest} {
		if r, body := w.do("POST", responsesPath, responseBody(`,"previous_response_id":"`+id+`"`), "Authorization", "Bearer "+token); r.StatusCode != want {
			t.Errorf("%s: %d %s", token, r.StatusCode, body)
		}
	}
	if r, _ := w.do("GET", responsesPath+"/"+id, "", "Authorization", "Bearer two-token-of-a-test"); r.StatusCode != http.StatusNotFound {
		t.Errorf("another token gets %d", r.StatusCode)
	}
}

// TestFullStoreSaysSo holds that a response that cannot be stored says that it is not.
func TestFullStoreSaysSo(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("4"))
	if err := w.bus.AdoptKV(t.Context(), bus.KVSpec{Bucket: names.Responses(), MaxBytes: 4 << 10}); err != nil {
		t.Fatal(err)
	}
	w = storing(t, w, nil)
	_, body := w.do("POST", responsesPath, strings.Replace(responseBody(""), "hello", strings.Repeat("x", 8<<10), 1))
	if r := wantResponse(t, body); r.Store || r.Status != "completed" {
		t.Errorf("got %+v", r)
	}
}

// TestStrangersLeaveRoomInTheStore fills the store with the responses of one token. Those
// of others are stored all the same, and the first token's again once it has deleted some.
func TestStrangersLeaveRoomInTheStore(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("4"))
	w = storing(t, w, func(c *Config) { c.AllowAnonymous = false })
	for _, token := range []string{"alice-0123456789", "mallory-0123456789"} {
		w.putToken(registry.Token{SHA256: digest(token), Namespace: "default"})
	}
	ask := func(token string) responseObject {
		t.Helper()
		r, body := w.do("POST", responsesPath, strings.Replace(responseBody(""), "hello", strings.Repeat("x", 64<<10), 1), "Authorization", "Bearer "+token)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, body)
		}
		return wantResponse(t, body)
	}
	var stored []string
	for r := ask("mallory-0123456789"); r.Store; r = ask("mallory-0123456789") {
		if stored = append(stored, r.ID); len(stored) > 4 {
			t.Fatalf("one token has stored %d responses, %d KiB of 1 MiB", len(stored), len(stored)*64)
		}
	}
	if len(stored) == 0 {
		t.Fatal("the first response is not stored")
	}
	if !ask("alice-0123456789").Store {
		t.Error("another token's response is not stored")
	}
	if r, body := w.do("DELETE", responsesPath+"/"+stored[0], "", "Authorization", "Bearer mallory-0123456789"); r.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	if !ask("mallory-0123456789").Store {
		t.Error("what is deleted makes no room")
	}
}

// TestOnlyKnownFieldsAreStored sends items with fields that no engine reads.
func TestOnlyKnownFieldsAreStored(t *testing.T) {
	w := newWorld(t, nil)
	startRunner(t, w.bus, tinySession, replies("4"))
	w = storing(t, w, nil)
	pad := `,"x_pad":"` + strings.Repeat("x", 100<<10) + `"`
	_, body := w.do("POST", responsesPath, `{"model":"tiny","input":[{"role":"user","content":[{"type":"input_text","text":"hello"`+pad+`}]`+pad+`},`+
		`{"type":"web_search_call","id":"w"`+pad+`},{"type":"message","id":"`+strings.Repeat("x", 100<<10)+`","role":"user","content":"more"}]}`)
	id := wantResponse(t, body).ID
	stream, err := w.bus.JetStream().Stream(t.Context(), names.KVStream(names.ResponsesBucket))
	if err != nil {
		t.Fatal(err)
	}
	m, err := stream.GetLastMsgForSubject(t.Context(), names.KVSubject(names.ResponsesBucket, names.ResponseKey("*", id)))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Data) > 4<<10 {
		t.Errorf("%d bytes are stored", len(m.Data))
	}
}

// TestIDsOfResponsesAreSecret holds that who reads logs, which name requests, cannot read
// the responses.
func TestIDsOfResponsesAreSecret(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("4"))
	w = storing(t, w, nil)
	r, body := w.do("POST", responsesPath, responseBody(""))
	response := wantResponse(t, body)
	secret := strings.TrimPrefix(response.ID, "resp_")
	request := strings.TrimPrefix(runner.seen()[0].ID, "req_")
	if request == "" || secret == request || secret[:8] == request[:8] || strings.Contains(r.Header.Get(headerRequestID), secret) {
		t.Errorf("the request %s has the response %s", request, response.ID)
	}
	if r, _ := w.do("GET", responsesPath+"/resp_"+request, ""); r.StatusCode != http.StatusNotFound {
		t.Errorf("the id of the request gets %d", r.StatusCode)
	}
}

// TestLoadingTakesMemory holds that a stored response is read only if there is memory for
// it, which its request holds until it is queued.
func TestLoadingTakesMemory(t *testing.T) {
	b := newBodies(800)
	m := &meter{bodies: b, tenant: "a"}
	free, ok := m.expect()
	if !ok || b.held != 100 {
		t.Fatalf("%v, %d bytes are held while it is read", ok, b.held)
	}
	if !m.take(250) || m.take(51) {
		t.Error("a tenant has more or less than half of the memory")
	}
	if _, ok := m.expect(); ok {
		t.Error("more is read than there is memory for")
	}
	free()
	if b.held != 250 {
		t.Errorf("%d bytes are held for what was read", b.held)
	}
	m.free()
	if b.held != 0 {
		t.Errorf("%d bytes are held at the end", b.held)
	}
}

// A wsClient is a client on a WebSocket.
type wsClient struct {
	t    *testing.T
	conn *websocket.Conn
}

func (w *world) socket(t *testing.T) *wsClient {
	t.Helper()
	conn, r, err := websocket.Dial(waittest.Context(t), strings.Replace(w.url, "http", "ws", 1)+responsesPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &wsClient{t, conn}
}

func (p *wsClient) send(frame string) {
	p.t.Helper()
	if err := p.conn.Write(waittest.Context(p.t), websocket.MessageText, []byte(frame)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *wsClient) receive() string {
	p.t.Helper()
	_, data, err := p.conn.Read(waittest.Context(p.t))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// ask returns the response at the end of a turn.
func (p *wsClient) ask(more string) responseObject {
	p.t.Helper()
	p.send(`{"type":"response.create","model":"tiny","input":"hello"` + more + `}`)
	var all []string
	for {
		all = append(all, p.receive())
		var e responseEvent
		decode(p.t, all[len(all)-1], &e)
		if e.Response.Status != "" && e.Response.Status != "in_progress" {
			wantEventData(p.t, all)
			return e.Response
		}
	}
}

// refused returns the code of the error frame that answers a frame.
func (p *wsClient) refused(frame string) string {
	p.t.Helper()
	p.send(frame)
	got := p.receive()
	wantSchema(p.t, "WebSocketErrorEvent", got)
	var e responseEvent
	decode(p.t, got, &e)
	return e.Error.Code
}

func TestSocket(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("4"))
	p := w.socket(t)
	first := p.ask(`,"store":false`)
	second := p.ask(`,"store":false,"previous_response_id":"` + first.ID + `"`)
	const want = `{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"4"},{"role":"user","content":"hello"}],"model":"default/tiny","stream":true,"stream_options":{"include_usage":true}}`
	if d := cmp.Diff(want, string(runner.seen()[1].Body)); d != "" {
		t.Error(d)
	}
	continued := `{"type":"response.create","model":"tiny","input":"hello","previous_response_id":"` + second.ID + `"}`
	if code := w.socket(t).refused(continued); code != "previous_response_not_found" {
		t.Errorf("another connection gets %q", code)
	}
	if code := p.refused(strings.Replace(continued, `"hello"`, `[{"type":"function_call_output","call_id":"c","output":"1"}]`, 1)); code != "invalid_request_error" {
		t.Errorf("an output of no call gets %q", code)
	}
	if code := p.refused(continued); code != "previous_response_not_found" {
		t.Errorf("after the failed turn: %q", code)
	}
	for _, frame := range []string{`{`, `[]`, `{"type":"response.cancel"}`} {
		if code := p.refused(frame); code != "invalid_value" {
			t.Errorf("%s: %q", frame, code)
		}
	}
	if r := p.ask(""); r.Status != "completed" {
		t.Errorf("a clean turn: %+v", r)
	}
	_ = p.conn.CloseNow()
	waittest.Until(t, "the connection gives its memory back", func() bool {
		b := w.gateway.bodies
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.held == 0
	})
}

// TestSocketClientLeaves holds that the request of a client that leaves is cancelled.
func TestSocketClientLeaves(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("first")
		<-ctx.Done()
	})
	p := w.socket(t)
	p.send(`{"type":"response.create","model":"tiny","input":"hello"}`)
	p.receive()
	_ = p.conn.CloseNow()
	waittest.Until(t, "the request is cancelled", func() bool { _, ok := runner.cancellation(runner.seen()[0].ID); return ok })
}

// TestSocketOrigin holds that a page of another site opens no connection.
func TestSocketOrigin(t *testing.T) {
	w := newWorld(t, nil)
	_, r, err := websocket.Dial(waittest.Context(t), w.url+responsesPath, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://other.example"}}})
	if err == nil || r == nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("err = %v", err)
	}
	if r, _ := w.do("GET", responsesPath, ""); r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %d", r.StatusCode)
	}
}

// TestCompaction holds that a compaction validates, and stands for what it compacts.
func TestCompaction(t *testing.T) {
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, replies("<think>Hm</think>", "They said hello."))
	r, body := w.do("POST", responsesPath+"/compact", `{"model":"tiny","instructions":"be brief","input":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]}`)
	if r.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	wantSchema(t, "CompactResource", body)
	var compaction struct {
		Output []struct {
			Type, ID string
			Content  string `json:"encrypted_content"`
		}
	}
	decode(t, body, &compaction)
	item := compaction.Output[0]
	if r, body := w.do("POST", responsesPath, `{"model":"tiny","input":[{"type":"compaction","id":"`+item.ID+`","encrypted_content":"`+item.Content+`"},{"role":"user","content":"and?"}]}`); r.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	const want = `{"messages":[{"role":"system","content":"Summary of the conversation so far:\nThey said hello."},{"role":"user","content":"and?"}],"model":"default/tiny"}`
	if d := cmp.Diff(want, string(runner.seen()[1].Body)); d != "" {
		t.Error(d)
	}
	if r, body := w.do("POST", responsesPath+"/compact", `{"input":"a"}`); r.StatusCode != http.StatusBadRequest || decodeError(t, body).Param != "model" {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}
