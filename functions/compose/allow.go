package compose

import (
	"encoding/json"
	"slices"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
)

// Keys of what Crossplane looks for.
const (
	reqPlatform    = "platform"
	reqConnections = "connections"
)

// Refused says which of the uses, and of the fields that need a grant, the platform team does
// not allow a claim of the namespace; empty if it allows all. Secrets of Koldun are allowed to
// none, and Koldun's own images always. Only a claim that uses something else makes Crossplane
// look for the rules: until it has, that is refused.
func (c *Call) Refused(namespace string, uses ...platform.Use) string {
	if own := c.ownSecret(); own != "" {
		return own
	}
	uses = append(uses, platform.Uses(c.claim())...)
	if c.Trusted {
		return ""
	}
	refused := platform.Rules{}.Refused(namespace, c.own(), uses...)
	if refused != "" && slices.ContainsFunc(uses, func(u platform.Use) bool { return u.WhereShared }) && !c.sharesLogin() {
		uses = slices.DeleteFunc(slices.Clone(uses), func(u platform.Use) bool { return u.WhereShared })
		refused = platform.Rules{}.Refused(namespace, c.own(), uses...)
	}
	if refused == "" {
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
	return rules.Refused(namespace, c.own(), uses...)
}

// sharesLogin reports whether namespaces share a login of the platform. Until Crossplane has
// looked they may.
func (c *Call) sharesLogin() bool {
	shared := false
	var all []*v1alpha1.ClusterProviderConfig
	known := c.RequireAll(reqConnections, v1alpha1.APIVersion, v1alpha1.KindClusterProviderConfig, "", nil, func() any {
		all = append(all, &v1alpha1.ClusterProviderConfig{})
		return all[len(all)-1]
	})
	for _, config := range all {
		shared = shared || config.Spec.SharedLogin
	}
	return !known || shared
}

// own are the images that Koldun runs by itself in each role.
func (c *Call) own() platform.Own {
	return platform.Own{
		Engine:  func(image string) bool { return catalog.OwnImage(image, c.Image) },
		Gateway: func(image string) bool { return engine.Trusted(image, c.Image) },
	}
}

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
