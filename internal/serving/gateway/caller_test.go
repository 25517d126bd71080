package gateway

import (
	"net/http"
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

func TestPriorityOf(t *testing.T) {
	allowed := func(priority string) caller {
		return caller{token: &registry.Token{Metadata: map[string]string{queue.MetadataPriority: priority}}}
	}
	cases := map[string]struct {
		who   caller
		asked string
		want  queue.Priority
	}{
		"AnonymousAsksNothing": {caller{}, "", queue.PriorityNormal},
		"AnonymousMayNot":      {caller{}, "high", queue.PriorityNormal},
		"AnonymousIsModest":    {caller{}, "low", queue.PriorityLow},
		"TokenOfNone":          {caller{token: &registry.Token{}}, "high", queue.PriorityNormal},
		"TokenMay":             {allowed("high"), "high", queue.PriorityHigh},
		"TokenMayAndDoesNot":   {allowed("high"), "", queue.PriorityNormal},
		"TokenIsLow":           {allowed("low"), "", queue.PriorityLow},
		"TokenOfNonsense":      {allowed("urgent"), "high", queue.PriorityNormal},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, refused := c.who.priority(c.asked)
			if refused != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, refused, c.want)
			}
		})
	}
	_, refused := allowed("high").priority("urgent")
	if refused == nil || refused.Status != http.StatusBadRequest {
		t.Errorf("an unknown priority: %+v, want 400", refused)
	}
}

// The priority is in the envelope.
func TestPriorityIsQueued(t *testing.T) {
	w := newWorld(t, nil)
	w.putToken(registry.Token{SHA256: digest("urgent-token-of-a-test"), Metadata: map[string]string{queue.MetadataPriority: "high"}})
	runner := startRunner(t, w.bus, tinySession, replies("x"))
	if r, body := w.do("POST", "/v1/chat/completions", chatBody(""), "X-Api-Key", "urgent-token-of-a-test", queue.HeaderPriority, "high"); r.StatusCode != http.StatusOK {
		t.Fatalf("%d: %s", r.StatusCode, body)
	}
	if got := runner.seen(); len(got) != 1 || got[0].Priority != queue.PriorityHigh {
		t.Errorf("queued: %+v, want one of high priority", got)
	}
	if r, _ := w.do("POST", "/v1/chat/completions", chatBody(""), queue.HeaderPriority, "urgent"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown priority: status %d, want 400", r.StatusCode)
	}
}

// TestLimitsOfCaller checks that a namespace cannot raise the limits of its gateway by
// the Secrets of its tokens.
func TestLimitsOfCaller(t *testing.T) {
	gateway := registry.Limits{RequestsPerMinute: 10, TokensPerMinute: 100}
	greedy := registry.Limits{RequestsPerMinute: 1000, TokensPerMinute: 50, ConcurrentRequests: 3}
	for name, c := range map[string]struct {
		token  *registry.Token
		exceed bool
		want   registry.Limits
	}{
		"Anonymous":    {nil, false, gateway},
		"WithoutOwn":   {&registry.Token{Namespace: "team"}, false, gateway},
		"OnlyLower":    {&registry.Token{Namespace: "team", Limits: greedy}, false, registry.Limits{RequestsPerMinute: 10, TokensPerMinute: 50, ConcurrentRequests: 3}},
		"MayExceed":    {&registry.Token{Namespace: "team", Limits: greedy}, true, greedy},
		"OfPlatform":   {&registry.Token{Limits: greedy}, false, greedy},
		"PlatformNone": {&registry.Token{}, false, gateway},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (caller{token: c.token}).limits(&Config{Limits: gateway, TokensMayExceed: c.exceed}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
