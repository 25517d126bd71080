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
	"strings"

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
	// Images by registry, by the beginning of their repository up to a slash, or by name.
	Images []string `json:"images,omitempty"`
	// ExtraArgs allows further arguments of gateways and engines.
	ExtraArgs bool `json:"extraArgs,omitempty"`
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
}

// Refused says why a claim of a namespace may not use something, and which line of the
// EnvironmentConfig allows it; empty if it may use all.
func (r Rules) Refused(namespace string, own func(image string) bool, uses ...Use) string {
	for _, u := range uses {
		if u.Value == "" || u.Grant == "images" && own(u.Value) || r.allow(namespace, u) {
			continue
		}
		return fmt.Sprintf("%s: %s %q is for the platform team to allow: add {namespaces: [%s], %s} to data.claims of %s %q",
			u.Field, u.What, u.Value, namespace, u.line(), Kind, Name)
	}
	return ""
}

// line is the part of a Rule that allows the use.
func (u Use) line() string {
	switch u.Grant {
	case "extraArgs", "tokensMayExceed", "podTemplates":
		return u.Grant + ": true"
	case "images":
		return fmt.Sprintf("images: [%q]", engine.RepositoryOf(u.Value))
	}
	return fmt.Sprintf("%s: [%q]", u.Grant, u.Value)
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
	case "images":
		return slices.ContainsFunc(r.Images, func(entry string) bool { return covers(entry, u.Value) })
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

// covers reports whether an entry of a list of images covers an image: as its registry, or
// the beginning of its repository, up to a slash; as its repository; or as the image itself.
func covers(entry, image string) bool {
	rest, found := strings.CutPrefix(image, entry)
	switch {
	case entry == "" || !found:
		return false
	case rest == "" || rest[0] == '/' || strings.HasSuffix(entry, "/"):
		return true
	}
	return engine.RepositoryOf(image) == entry
}
