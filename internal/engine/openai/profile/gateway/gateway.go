// Package gateway is the profile of Koldun's own gateway, which claims of another
// namespace ask. It is in no list of profiles: a claim refers to its Ingress.
package gateway

import (
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// slots is how many requests a claim has in the other gateway's queue at once. All
// beyond wait in its own.
const slots = 16

// Profile returns the profile. It offers all that an engine behind the gateway can
// have; the gateway refuses what its engine lacks.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "gateway",
		Slots:      slots,
		Operations: profile.Operations(openai.OperationEmbedding),
		Parameters: profile.Sampling(openai.HintLogitBias),
		Features:   profile.Features(openai.FeatureTools, openai.FeatureToolChoice, openai.FeatureJSONSchema, openai.FeatureLogprobs, openai.FeatureDimensions),
	}
}
