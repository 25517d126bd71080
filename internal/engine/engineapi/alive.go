package engineapi

import (
	"context"
	"fmt"
	"io"
	"time"
)

// aliveTimeout bounds the answer to a request that needs no computation.
const aliveTimeout = 10 * time.Second

// Alive reports whether the engine answers HTTP at all, without making it
// compute. It waits until a running request has ended. Upstream answers even
// while one of its workers is gone, so this does not prove that it can generate.
// Errors: those of Do.
func (c *Client) Alive(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	conn, err := c.dial(ctx, 0)
	if err != nil {
		return err
	}
	x := exchange{addr: c.addr, conn: conn}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(aliveTimeout))
	if _, err := io.WriteString(conn, c.harmless()); err != nil {
		return x.broken(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 204"))); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return x.broken(err)
	}
	return nil
}

// harmless returns a request that upstream answers without using the model.
func (c *Client) harmless() string {
	return fmt.Sprintf("OPTIONS /v1/models HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", c.addr)
}
