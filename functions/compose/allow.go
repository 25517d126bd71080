package compose

import (
	"encoding/json"

	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine/catalog"
)

const reqPlatform = "platform"

// Refused says which of the uses, and of the fields that need a grant, the platform team does
// not allow a claim of the namespace; empty if it allows all. Secrets of Koldun are allowed to
// none, and Koldun's own images always. Only a claim that uses something else makes Crossplane
// look for the rules: until it has, that is refused.
func (c *Call) Refused(namespace string, uses ...platform.Use) string {
	if own := c.ownSecret(); own != "" {
		return own
	}
	uses = append(uses, platform.Uses(c.claim())...)
	refused := platform.Rules{}.Refused(namespace, c.ownImage, uses...)
	if c.Trusted || refused == "" {
		return ""
	}
	var env struct {
		Data map[string]any `json:"data"`
	}
	if found, _ := c.Require(reqPlatform, platform.APIVersion, platform.Kind, "", platform.Name, &env); !found {
		return refused
	}
	raw, err := json.Marshal(env.Data)
	if err != nil {
		return refused
	}
	rules, err := platform.Read(raw)
	if err != nil {
		return refused + ", and correct that: " + err.Error()
	}
	return rules.Refused(namespace, c.ownImage, uses...)
}

// ownImage reports whether Koldun composes pods of the repository of an image by itself.
func (c *Call) ownImage(image string) bool { return catalog.OwnImage(image, c.Image) }

// Allow is a step that refuses a claim which uses what the platform team does not allow.
// What exists stays as it is.
func (p *Plan) Allow(namespace string, uses ...platform.Use) Next {
	refused := p.Refused(namespace, uses...)
	if refused == "" {
		return Continue
	}
	return p.Deny(refused)
}

// Deny refuses a claim because of what the platform team does not allow. What exists stays
// as it is.
func (p *Plan) Deny(why string) Next {
	p.Fail(reason.NotAllowed, "%s", why)
	p.refused = true
	p.KeepRest()
	return Stop
}
