package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// handleSocket serves requests for responses on a WebSocket, one after another. Each
// is a request of its own for limits, logs and metrics, with the headers of the first.
func (g *Gateway) handleSocket(w http.ResponseWriter, r *http.Request, in incoming) (task, *refusal) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		return nil, errUpgrade()
	}
	leave, refused := g.sockets.enter(in.caller.tenant)
	if refused != nil {
		return nil, refused
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
	s := &socket{conn: conn, timeout: g.timing.write, memory: &memory{responseStore: g.stored, bodies: g.bodies, tenant: in.caller.tenant}}
	defer s.memory.drop()
	api := &handler{g: g, router: newRouter([]endpoint{g.responses(s.memory)})}
	s.serve(r.Context(), func(ctx context.Context, frame []byte) {
		request := r.Clone(ctx)
		request.Method, request.Body, request.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(frame)), int64(len(frame))
		request.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(&socketWriter{socket: s, ctx: ctx, header: http.Header{}}, request)
	})
	return nil, nil
}
