package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/gateway/socket"
)

// handleSocket serves requests for responses on a WebSocket, one after another. Each
// is a request of its own for limits, logs and metrics, with the headers of the first.
func (g *Gateway) handleSocket(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		return nil, errUpgrade()
	}
	leave, ok := g.sockets.Enter(in.caller.tenant)
	if !ok {
		return nil, errTooManySockets()
	}
	defer leave()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// The same origins as those of CORS. The library advises against the pattern "*".
		OriginPatterns: g.cfg.Origins, InsecureSkipVerify: slices.Contains(g.cfg.Origins, anyOrigin),
	})
	if err != nil {
		return nil, nil // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(g.maxBody())
	last := &memory{responseStore: g.stored, bodies: g.bodies, tenant: in.caller.tenant}
	defer last.drop()
	api := &handler{g: g, router: newRouter([]endpoint{g.responses(last)})}
	socket.New(conn, g.timing.write, last.forget).Serve(r.Context(), func(ctx context.Context, w http.ResponseWriter, body []byte) {
		request := r.Clone(ctx)
		request.Method, request.Body, request.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(body)), int64(len(body))
		request.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(w, request)
	})
	return nil, nil
}

func errUpgrade() *refusal {
	return &refusal{Error: openai.Error{
		Status: http.StatusUpgradeRequired, Type: openai.InvalidRequest, Code: "upgrade_required",
		Message: "GET opens a WebSocket here: send 'Connection: Upgrade' and 'Upgrade: websocket'. A single request is a POST.",
	}}
}

func errTooManySockets() *refusal {
	return &refusal{retryAfter: 15 * time.Second, limit: "sockets", Error: openai.Error{
		Status: http.StatusTooManyRequests, Type: openai.RateLimit, Code: openai.CodeRateLimitExceeded,
		Message: "Too many connections are open. Close some of them, or try again later.",
	}}
}
