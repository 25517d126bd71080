package bucket

import "time"

// At sets the clock of the client.
func (c *Client) At(now time.Time) *Client {
	c.now = func() time.Time { return now }
	return c
}
