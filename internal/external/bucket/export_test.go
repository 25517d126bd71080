package bucket

import "time"

// At sets the clock of the client.
func (c *Client) At(now time.Time) *Client {
	at := func() time.Time { return now }
	c.connections.now, c.uploads.now = at, at
	return c
}
