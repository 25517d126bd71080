package gateway

import (
	"bytes"
	"context"
	"errors"
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
	c := &socketClient{g: g, request: r, meter: &meter{bodies: g.bodies, tenant: in.caller.tenant}}
	c.last = &memory{responseStore: g.stored, bodies: g.bodies, tenant: in.caller.tenant}
	defer c.last.drop()
	c.api = &handler{g: g, router: newRouter([]endpoint{g.responses(c.last)})}
	socket.New(conn, g.timing.write, g.timing.body, c).Serve(r.Context())
	return nil, nil
}

// A socketClient answers the requests of one WebSocket. It belongs to one goroutine.
type socketClient struct {
	g       *Gateway
	api     *handler
	request *http.Request // that has opened the connection
	last    *memory
	meter   *meter // of the frame that is answered
}

func (c *socketClient) Receive(frame io.Reader) ([]byte, error) {
	most := c.g.maxBody()
	b, err := c.meter.read(frame, -1, most)
	if errors.Is(err, errNoMemory) {
		return nil, &errBusy().Error
	}
	return b, err
}

func (c *socketClient) Free() { c.meter.free() }

func (c *socketClient) Forget(response string) { c.last.forget(response) }

func (c *socketClient) Answer(ctx context.Context, w http.ResponseWriter, b []byte) {
	request := c.request.Clone(ctx)
	request.Method, request.ContentLength = http.MethodPost, int64(len(b))
	request.Body = &body{ReadCloser: io.NopCloser(bytes.NewReader(b)), bytes: b, meter: c.meter}
	request.Header.Set("Content-Type", "application/json")
	c.api.ServeHTTP(w, request)
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
