package managed

import (
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/terraform-provider/internal/connection"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/identity"
)

// A Kind describes a resource beside its CRD and its row of the catalog.
type Kind struct {
	Name     string // in Terraform, without "koldun_"
	Plural   string // of the CRD
	Identity identity.Attributes
	Needs    []connection.System
	// Ready is how long creating and updating wait until the thing is ready.
	Ready time.Duration
	// Owner says that the thing is known by a name of its own, which is the
	// attribute "name" and not part of the external resource.
	Owner bool
	// Connects says that there is a connection to write into a Secret.
	Connects bool
	// Digest is the field that holds the SHA-256 of a secret: one that is given
	// as secret_wo, or one that is generated and written into a Secret; "" if
	// there is no such secret.
	Digest string
	// About is what the documentation says of the resource beside its CRD, and
	// Says of fields in place of the CRD, which speaks of a cluster.
	About string
	Says  map[string]string
	// Omit are fields that Terraform does not offer; see why where they are.
	Omit []string
	// Defaults of fields that stay as they are in a cluster when they are left
	// out. Here a thing is wholly Terraform's, so that the plan says what it gets.
	Defaults map[string]any
	// Kept are fields that stay as the thing has them when they are left out,
	// unless they have a default.
	Kept []string
	// Fixed are fields that cannot be changed in place, where the CRD says so
	// by a rule of the whole spec.
	Fixed []string
	// Shared says that the external resource always exists: there is none to adopt.
	Shared bool

	entry catalog.Entry
}

// Kinds returns all resources of managed kinds.
func Kinds() []Kind {
	return []Kind{bucketRow(), streamRow(), keyValueRow(), consumerRow(), tokenRow(), recordRow(), artifactRow(), nodesRow()}
}

const brief = 2 * time.Minute

func bucketRow() Kind {
	k := row("Bucket", "bucket", "buckets", "bucket_name")
	k.Connects, k.Kept = true, []string{"versioning", "lifecycleRules", "tags", "policy"}
	return k
}

func streamRow() Kind {
	k := row("Stream", "stream", "streams", attrName)
	k.About = "Destroying it deletes the stream with all its messages."
	k.Connects, k.Kept = true, []string{"placement"}
	k.Defaults = map[string]any{"discard": "old", "duplicateWindow": "2m", "replicas": int64(1)}
	return k
}

func keyValueRow() Kind {
	k := row("KeyValue", "key_value", "keyvalues", "bucket")
	k.About = "Destroying it deletes the bucket with all its keys."
	k.Connects, k.Kept = true, []string{"history", "placement"}
	k.Defaults = map[string]any{"replicas": int64(1)}
	return k
}

// consumerRow fixes what its CRD makes immutable by rules over all fields.
func consumerRow() Kind {
	k := row("Consumer", "consumer", "consumers", "stream", attrName)
	k.Connects, k.Kept = true, []string{"ackWait", "maxAckPending", "replicas"}
	k.Defaults = map[string]any{"deliverPolicy": "All", "ackPolicy": "Explicit", "replayPolicy": "Instant"}
	k.Fixed = []string{"deliverPolicy", "ackPolicy", "replayPolicy", "startSequence", "startTime"}
	return k
}

// tokenRow has no secret_ref, because Terraform takes the token itself as a
// write-only value. An entry that moves to another bucket or prefix is another
// entry: both are part of its identity, and left out they are what Koldun's
// gateways read.
func tokenRow() Kind {
	k := row("Token", "token", "tokens", attrName)
	k.About = "Destroying it ends the token at once."
	k.Says = map[string]string{
		"namespace": "Namespace that the token is of, for people who look at the registry. Left out, none.",
		"expires":   "When the token ends: from then on it is refused. Left out, never.",
		"bucket":    "Bucket of the registry. Koldun's gateways read the default.",
		"prefix":    "What keys begin with.",
	}
	k.Owner, k.Connects, k.Digest = true, true, "sha256"
	k.Omit = []string{"secretRef"}
	k.Identity.Places = []identity.Place{{Attribute: "bucket", Usual: names.TokensBucket}, {Attribute: "prefix", Usual: names.TokenKey("")}}
	k.Defaults = map[string]any{}
	for _, p := range k.Identity.Places {
		k.Defaults[p.Attribute] = p.Usual
	}
	return k
}

func recordRow() Kind {
	return row("ModelRecord", "model_record", "modelrecords", "namespace", attrName)
}

// artifactRow waits for files that Jobs make.
func artifactRow() Kind {
	k := row("ModelArtifact", "model_artifact", "modelartifacts", "url")
	k.About = "Destroying it deletes the files: where others need them, look at them by the data source."
	k.Ready, k.Shared = 6*time.Hour, true
	return k
}

// nodesRow labels nodes of the cluster that the provider is configured with. A
// rule is there before its creation if nodes have labels of it.
func nodesRow() Kind {
	k := row("NodeLabelRule", "node_label_rule", "nodelabelrules", attrName)
	k.Owner = true
	return k
}

// row returns the resource of a kind of the catalog, which is identified by
// attributes.
func row(kind, name, plural string, id ...string) Kind {
	k := Kind{Name: name, Plural: plural, Identity: identity.Of(id...), Ready: brief}
	for _, e := range catalog.Entries() {
		if e.Kind == kind {
			k.entry, k.Needs = e, []connection.System{connection.System(e.System)}
		}
	}
	return k
}

// load reads the kind's CRD.
func (k Kind) load() (*crd.Kind, error) {
	c, err := crd.Load(crd.Managed, k.Plural)
	if err != nil {
		return nil, err
	}
	c.Spec.Fields = slices.DeleteFunc(c.Spec.Fields, func(f *crd.Field) bool { return slices.Contains(k.Omit, f.Name) })
	durations := k.entry.Durations()
	for _, f := range c.Spec.Fields {
		f.Duration = slices.Contains(durations, f.Name)
		if f.Elem != nil {
			f.Elem.Duration = f.Duration
		}
		if v, ok := k.Defaults[f.Name]; ok {
			f.Default = v
		}
		if s, ok := k.Says[f.Name]; ok {
			f.Description = s
		}
		f.Kept = slices.Contains(k.Kept, f.Name) && f.Default == nil
		f.Immutable = f.Immutable || slices.Contains(k.Fixed, f.Name)
	}
	return c, nil
}
