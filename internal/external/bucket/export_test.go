package bucket

import "time"

// At has the client live at another time.
func (c *Client) At(now time.Time) *Client {
	c.now = func() time.Time { return now }
	return c
}
