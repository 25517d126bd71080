package modelrecord

import (
	"context"
	"strings"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

var _ external.Viewer[Spec] = (*Client)(nil)

// View reads the entry.
func (c *Client) View(ctx context.Context, s Spec, _ external.Scope) (Spec, error) {
	have, err := c.models.Get(ctx, names.ModelKey(s.Namespace, s.Name))
	if err != nil {
		return Spec{}, err
	}
	out := Spec{Namespace: s.Namespace, Name: s.Name}
	if s.Group != "" {
		m, ok := have.Value.Members.Members[s.Group]
		if !ok {
			return Spec{}, fault.Errorf(fault.NotFound, "model %q has no member %q", have.Value.ID(), s.Group)
		}
		out.Group, out.Weight, out.Fallback = s.Group, &m.Weight, m.Fallback
		return out, nil
	}
	if s.bare() && have.Value.Bare { // the files are those of another resource
		return out, nil
	}
	if url, ok := strings.CutSuffix(have.Value.Manifest, "/"+names.Manifest); ok {
		out.ArtifactURL = url
		if same := strings.TrimSuffix(s.ArtifactURL, "/"); same == url {
			out.ArtifactURL = s.ArtifactURL
		}
		// What is in the folder is not the spec's business.
		out.SizeBytes, out.Weights = s.SizeBytes, s.Weights
		return out, nil
	}
	out.SizeBytes, out.Weights = have.Value.Size, string(have.Value.Weights)
	return out, nil
}
