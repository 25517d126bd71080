package parity

import (
	"maps"
	"slices"
	"strings"
)

// Steps that every kind has.
const (
	minimal = "create with required fields only"
	full    = "create with everything"
	changed = "change"
)

// Names that all scenarios use.
const (
	resourceName = "it"    // of the resource
	secretName   = "given" // of the Secret with the scenario's secret
	secretWord   = "a-secret-word-of-the-test"
)

// A scenario is one resource of one kind, from its creation to its deletion.
type scenario struct {
	resource, plural string // of Terraform, without "koldun_"; of the CRD
	name             string
	// prepare creates what the resource requires on the servers. May be nil.
	prepare func(*servers)
	steps   []step
	// secret is the secret of the resource, which each manager takes in its own form.
	secret string
	// manifest holds fields of spec.forProvider, or else of spec, that only the
	// manifests of Crossplane and koldun up have. terraform holds attributes that
	// only Terraform has.
	manifest, terraform map[string]any
}

// A step applies a complete spec.forProvider.
type step struct {
	name    string
	spec    map[string]any
	refused string // part of the error; "" if the step succeeds
}

// namespace returns the namespace of the resource, and of the entries that it
// writes: Crossplane and koldun up refuse entries of another one. Scenarios run
// on one cluster, so each has its own.
func (c scenario) namespace() string {
	return strings.ToLower(strings.ReplaceAll("team-"+c.resource+"-"+c.name, "_", "-"))
}

// scenarios returns the scenarios of all kinds.
func scenarios() []scenario {
	all := slices.Concat(bucketScenarios(), streamScenarios(), consumerScenarios(), keyValueScenes(), tokenScenarios(), modelScenarios(), nodeScenarios(), accountScenarios())
	for _, c := range all {
		for i, s := range c.steps {
			if s.spec["namespace"] != nil {
				c.steps[i].spec = maps.Clone(s.spec)
				c.steps[i].spec["namespace"] = c.namespace()
			}
		}
	}
	return all
}

// uncompared maps the fields that no scenario sets, by resource and path, to the
// reason.
func uncompared() map[string]string {
	const temporary = "Terraform has none: nothing runs between two applies that could renew credentials"
	return map[string]string{
		"bucket.access":           temporary,
		"bucket.access[*].bucket": temporary,
		"bucket.access[*].prefix": temporary,
		"bucket.access[*].write":  temporary,
		"token.rotateAfter":       "Terraform has none: nothing runs between two applies that could rotate",
	}
}

// standardScenarios creates a resource with its required fields, and with all
// fields; the latter is changed and then reduced to its required fields.
func standardScenarios(resource, plural string, least, most, other map[string]any) []scenario {
	return []scenario{
		{resource: resource, plural: plural, name: "Minimal", steps: []step{{name: minimal, spec: least}}},
		{resource: resource, plural: plural, name: "Full", steps: []step{{name: full, spec: most}, {name: changed, spec: other}, {name: "remove all optional fields", spec: least}}},
	}
}
