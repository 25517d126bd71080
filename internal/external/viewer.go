package external

import "context"

// A Viewer can also tell how a thing is configured, so that a face can show
// what differs and take over what exists.
type Viewer[S any] interface {
	// View is the spec that describes the thing as it is. Where it means the
	// same as spec it has spec's own words: what spec leaves out and the thing
	// has by default stays left out. With all, as for somebody who knows
	// nothing but the name yet, it says what the thing has there. Errors:
	// NotFound.
	View(ctx context.Context, spec S, all bool) (S, error)
}
