package parity

import "slices"

// Steps that every kind has.
const (
	minimal = "create with what is required" // and nothing else
	full    = "create with everything"
	changed = "change"
)

// Names in every scene.
const (
	resourceName = "it"    // of the resource
	secretName   = "given" // of the Secret with the scene's secret
	secretWord   = "a-secret-word-of-the-test"
)

// A scene is one resource of one kind, from its creation to its deletion.
type scene struct {
	resource, plural string // of Terraform, without "koldun_"; of the CRD
	name             string
	// prepare what has to be outside before.
	prepare func(*servers)
	steps   []step
	// secret is given to every manager, to each in its own way.
	secret string
	// manifest holds what only manifests have, of Crossplane and of koldun up: fields
	// of spec.forProvider, or else of spec. terraform holds attributes that only
	// Terraform has.
	manifest, terraform map[string]any
}

// A step is a whole spec, as spec.forProvider has it.
type step struct {
	name    string
	spec    map[string]any
	refused string // what the error says; "" if it succeeds
}

// scenes of all kinds.
func scenes() []scene {
	return slices.Concat(bucketScenes(), streamScenes(), consumerScenes(), keyValueScenes(), tokenScenes(), modelScenes(), nodeScenes())
}

// uncompared are fields that no scene has, by resource and path, with the
// reason.
func uncompared() map[string]string {
	return map[string]string{
		"token.rotateAfter": "Terraform has none: nobody is there to rotate between two applies",
	}
}

// life is a scene for each way to create a resource, and for what can become of
// it: changed, and stripped of all that is optional.
func life(resource, plural string, least, most, other map[string]any) []scene {
	return []scene{
		{resource: resource, plural: plural, name: "Minimal", steps: []step{{name: minimal, spec: least}}},
		{resource: resource, plural: plural, name: "Full", steps: []step{{name: full, spec: most}, {name: changed, spec: other}, {name: "take all options away", spec: least}}},
	}
}
