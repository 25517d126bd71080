package topology

import (
	"encoding/json"
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// rawRope is rope_scaling, or rope_parameters as newer configs have it.
type rawRope struct {
	RopeType  *string  `json:"rope_type"`
	Type      *string  `json:"type"` // the older name
	RopeTheta *float64 `json:"rope_theta"`

	Factor   *float64 `json:"factor"`
	Low      *float64 `json:"low_freq_factor"`
	High     *float64 `json:"high_freq_factor"`
	Original *float64 `json:"original_max_position_embeddings"`
}

// rope reads rope_theta and rope_scaling, and rope_parameters where those are
// missing: newer configs state both inside of it, and without them the model
// would silently run with a base of 10000.
func (raw rawConfig) rope(c *Config) error {
	c.RopeTheta = raw.RopeTheta
	scaling, name := raw.RopeScaling, "rope_scaling"
	if !given(scaling) && given(raw.RopeParameters) {
		scaling, name = raw.RopeParameters, "rope_parameters"
	}
	if given(scaling) {
		var r rawRope
		if err := json.Unmarshal(scaling, &r); err != nil {
			return fault.Errorf(fault.Invalid, "%s: %w", name, err)
		}
		if c.RopeTheta == nil {
			c.RopeTheta = r.RopeTheta
		}
		var err error
		if c.RopeScaling, err = r.scaling(name, c.Shape.Arch); err != nil {
			return err
		}
	}
	if t := c.RopeTheta; t != nil && !(*t >= 1 && *t < math.MaxInt32+1) {
		return fault.Errorf(fault.Unsupported, "rope_theta is %g, want 1 to %d", *t, math.MaxInt32)
	}
	return nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (r rawRope) scaling(name string, arch Arch) (*RopeScaling, error) {
	kind := "unnamed"
	switch {
	case r.RopeType != nil:
		kind = *r.RopeType
	case r.Type != nil:
		kind = *r.Type
	case name == "rope_parameters":
		kind = "default"
	}
	if kind == "default" {
		return nil, nil
	}
	if kind != "llama3" {
		return nil, fault.Errorf(fault.Unsupported, "%s.rope_type is %q, want llama3 or default", name, kind)
	}
	if arch != Llama {
		return nil, fault.Errorf(fault.Unsupported, "%s.rope_type is llama3, which distributed-llama ignores for architecture %s", name, arch)
	}
	s := &RopeScaling{}
	for _, f := range []struct {
		name string
		from *float64
		to   *float64
	}{
		{"factor", r.Factor, &s.Factor},
		{"low_freq_factor", r.Low, &s.LowFreqFactor},
		{"high_freq_factor", r.High, &s.HighFreqFactor},
		{"original_max_position_embeddings", r.Original, &s.OriginalSeqLen},
	} {
		if f.from == nil {
			return nil, fault.Errorf(fault.Invalid, "%s.%s is missing", name, f.name)
		}
		if v := *f.from; v != math.Trunc(v) || v < 1 || v > math.MaxInt32 {
			return nil, fault.Errorf(fault.Unsupported, "%s.%s is %g, a .m file holds whole numbers from 1", name, f.name, v)
		}
		*f.to = *f.from
	}
	return s, nil
}
