package render

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gorizond/koldun/internal/external/part"
	"github.com/gorizond/koldun/internal/local"
)

// renderPart renders the composite of a Part.
func (r renderer) renderPart(ctx context.Context, obj local.Object) error {
	var s part.Spec
	if err := obj.Decode(&s, "spec", "forProvider"); err != nil {
		return err
	}
	return r.renderObjects(ctx, part.Composites().Objects(s, part.Status{}), obj)
}

// simulate gives an object the status that it has when everything is ready. That of a
// Part is what its composite, which was rendered, provides.
func (r renderer) simulate(ctx context.Context, obj local.Object, observed map[string]local.Object) (local.Object, error) {
	out, err := r.withConfig(simulate(obj, observed), observed)
	if err != nil {
		return nil, err
	}
	key := obj.Key()
	if key.Kind != "Part" {
		return out, nil
	}
	var s part.Spec
	if err := obj.Decode(&s, "spec", "forProvider"); err != nil {
		return nil, err
	}
	for known, composite := range r.known {
		if known.Group() == local.CompositeGroup && known.Kind == s.Kind && known.Namespace == key.Namespace && known.Name == s.Name {
			s.Found, _ = composite["status"].(map[string]any)
		}
	}
	o, err := part.Client{}.Observe(ctx, s)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]any{"atProvider": o.Status})
	if err != nil {
		return nil, fmt.Errorf("cannot encode status of %s: %w", key, err)
	}
	var status map[string]any
	if err := json.Unmarshal(raw, &status); err != nil {
		return nil, fmt.Errorf("cannot decode status of %s: %w", key, err)
	}
	if o.Ready {
		status["conditions"] = []any{map[string]any{"type": "Ready", "status": "True", "reason": "Available"}}
	}
	out["status"] = status
	return out, nil
}
