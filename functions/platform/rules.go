// Package platform decides what claims may use only if the platform team lets them:
// images, arguments of programs, volumes of CSI drivers, and tokens without limits.
//
// The platform team writes its Rules into an EnvironmentConfig, a kind of Crossplane's own
// that no tenant may write. Without one, claims use nothing of this.
package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gorizond/koldun/internal/engine"
)

// The EnvironmentConfig that holds Rules in its field data.
const (
	APIVersion = "apiextensions.crossplane.io/v1beta1"
	Kind       = "EnvironmentConfig"
	Name       = "koldun-platform"
)

// Rules say what claims may use. A claim may use what any of the rules for its namespace
// allows.
type Rules struct {
	Claims []Rule `json:"claims,omitempty"`
}

// A Rule allows the claims of some namespaces something.
type Rule struct {
	// Namespaces by name; none is all.
	Namespaces []string `json:"namespaces,omitempty"`
	// Everything allows all of the following, and all of Grants.
	Everything bool `json:"everything,omitempty"`
	// Images of engines by registry, by the beginning of their repository up to a slash, or
	// by name.
	Images []string `json:"images,omitempty"`
	// GatewayImages allows images of gateways and dispatchers, which hold logins.
	GatewayImages []string `json:"gatewayImages,omitempty"`
	// ExtraArgs allows further arguments of gateways and engines.
	ExtraArgs bool `json:"extraArgs,omitempty"`
	// ServerCommands allows programs and arguments that claims choose for servers' containers,
	// and ServerSecrets Secrets by name in their environment, where namespaces share a login.
	ServerCommands bool     `json:"serverCommands,omitempty"`
	ServerSecrets  []string `json:"serverSecrets,omitempty"`
	// TokensMayExceed allows gateways whose limits API tokens exceed.
	TokensMayExceed bool `json:"tokensMayExceed,omitempty"`
	// PodTemplates allows templates that are merged over pods.
	PodTemplates bool `json:"podTemplates,omitempty"`
	// CSIDrivers of static volumes.
	CSIDrivers []string `json:"csiDrivers,omitempty"`
	// CSISecrets that such volumes name, as NAMESPACE/NAME.
	CSISecrets []string `json:"csiSecrets,omitempty"`
	// CSIAttributes of such volumes, by name.
	CSIAttributes []string `json:"csiAttributes,omitempty"`

	Grants
}

// Read reads the Rules in the field data of an EnvironmentConfig.
func Read(data []byte) (Rules, error) {
	var out Rules
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return Rules{}, fmt.Errorf("cannot read data of %s %q: %w", Kind, Name, err)
	}
	return out, nil
}

// A Use is something that a claim uses.
type Use struct {
	Field string // path in the claim
	What  string // for messages
	Value string // "" is nothing, which is always allowed
	Grant string // field of a Rule
	// WhereShared says that all may use it unless namespaces share a login of the platform.
	WhereShared bool
}

// Refused says why a claim of a namespace may not use something, and which line of the
// EnvironmentConfig allows it; empty if it may use all.
func (r Rules) Refused(namespace string, own Own, uses ...Use) string {
	for _, u := range uses {
		if u.Value == "" || own.allows(u) || r.allow(namespace, u) {
			continue
		}
		return fmt.Sprintf("%s: %s %q is for the platform team to allow: add {namespaces: [%s], %s} to data.claims of %s %q%s",
			u.Field, u.What, u.Value, namespace, u.line(), Kind, Name, u.otherwise())
	}
	return ""
}

// line is the part of a Rule that allows the use.
func (u Use) line() string {
	switch u.Grant {
	case "extraArgs", "tokensMayExceed", "podTemplates", grantServerCommands:
		return u.Grant + ": true"
	case grantImages, grantGatewayImages:
		return fmt.Sprintf("%s: [%q]", u.Grant, engine.RepositoryOf(u.Value))
	}
	return fmt.Sprintf("%s: [%q]", u.Grant, u.Value)
}

// otherwise is what the author of the claim can do instead.
func (u Use) otherwise() string {
	if u.Grant == grantGatewayImages {
		return ", or leave the field out: the default is the image of this Koldun"
	}
	return ""
}

func (r Rules) allow(namespace string, u Use) bool {
	return slices.ContainsFunc(r.Claims, func(rule Rule) bool {
		if len(rule.Namespaces) > 0 && !slices.Contains(rule.Namespaces, namespace) {
			return false
		}
		return rule.Everything || rule.allows(u)
	})
}

func (r Rule) allows(u Use) bool {
	switch u.Grant {
	case grantImages:
		return slices.ContainsFunc(r.Images, func(entry string) bool { return covers(entry, u.Value) })
	case grantGatewayImages:
		return slices.ContainsFunc(r.GatewayImages, func(entry string) bool { return covers(entry, u.Value) })
	case grantServerCommands:
		return r.ServerCommands
	case grantServerSecrets:
		return slices.Contains(r.ServerSecrets, u.Value)
	case "extraArgs":
		return r.ExtraArgs
	case "tokensMayExceed":
		return r.TokensMayExceed
	case "podTemplates":
		return r.PodTemplates
	case "csiDrivers":
		return slices.Contains(r.CSIDrivers, u.Value)
	case "csiSecrets":
		return slices.Contains(r.CSISecrets, u.Value)
	case "csiAttributes":
		return slices.Contains(r.CSIAttributes, u.Value)
	}
	return r.Grants.allows(u)
}
