package managed

import (
	"cmp"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/terraform-provider/internal/clients"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/terraform-provider/internal/identity"
)

// A Kind describes a resource, in addition to its CRD and its row of the catalog.
type Kind struct {
	Name     string // in Terraform, without "koldun_"
	Plural   string // of the CRD
	Identity identity.Attributes
	Needs    []clients.System
	// Ready is the time that Create and Update wait until the resource is ready.
	Ready time.Duration
	// Owner reports whether the resource has a name of its own: the attribute
	// "name", which is not part of the external resource.
	Owner bool
	// Within reports whether the resource is one of a namespace, which its spec does
	// not say: the attribute "namespace".
	Within bool
	// Connects reports whether there is a connection to write into a Secret.
	Connects bool
	// Written reports whether the connection has to be written into a Secret: it is
	// what the resource makes.
	Written bool
	// Digest is the field that holds the SHA-256 of a secret, which comes from
	// secret_wo or is generated and written into a Secret; "" for kinds without
	// a secret.
	Digest string
	// About is documentation to add to the description of the CRD, or to Instead, which
	// replaces it. Says replaces the descriptions of fields. Both are for what those of
	// the CRD say about a cluster only.
	About   string
	Instead string
	Says    map[string]string
	// Omit lists fields that Terraform does not offer; each row gives its reason.
	Omit []string
	// Defaults of fields that a cluster leaves unchanged when they are omitted.
	// Terraform manages the whole resource, so the plan shows each value.
	Defaults map[string]any
	// Kept lists fields without a default that keep the value of the external
	// resource when they are omitted.
	Kept []string
	// Fixed lists fields that a rule over the whole spec of the CRD makes
	// immutable.
	Fixed []string
	// Defers reports whether a ready resource with a message leaves work to a later apply.
	Defers bool
	// Shared reports whether the external resource always exists, so that Create
	// never adopts one.
	Shared bool
	// Unseen reports whether nothing but the state says how the resource is configured,
	// so that there is no data source.
	Unseen bool

	entry catalog.Entry
}

// Kinds returns all resources of managed kinds.
func Kinds() []Kind {
	return []Kind{bucketRow(), streamRow(), keyValueRow(), consumerRow(), tokenRow(), recordRow(), artifactRow(), nodesRow(), accountRow(), userRow()}
}

const brief = 2 * time.Minute

// bucketRow omits the rights of credentials that the connection of the provider does not
// make.
func bucketRow() Kind {
	k := row("Bucket", "bucket", "buckets", "bucket_name")
	k.Omit = []string{"access"}
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
// write-only value. Bucket and prefix are part of the identity, because an entry
// elsewhere is another entry; their defaults are those that Koldun's gateways
// read.
func tokenRow() Kind {
	k := row("Token", "token", "tokens", attrName)
	k.About = "Destroying it revokes the token at once."
	k.Says = map[string]string{
		"namespace": "Namespace that owns the token, as information in the registry. Default: none.",
		"expires":   "Time at which the token expires; gateways refuse it from then on. Default: never.",
		"bucket":    "Key-value bucket of the registry. Koldun's gateways read the default.",
		"prefix":    "Prefix of the keys in the bucket.",
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

// recordRow has a group as part of the identity, because a member of an entry is
// another object than the entry.
func recordRow() Kind {
	k := row("ModelRecord", "model_record", "modelrecords", "namespace", attrName)
	k.Identity.Places = []identity.Place{{Attribute: "group"}}
	k.Defaults = map[string]any{"weight": int64(queue.DefaultWeight)}
	return k
}

// artifactRow waits for files that Jobs write.
func artifactRow() Kind {
	k := row("ModelArtifact", "model_artifact", "modelartifacts", "url")
	k.About = "Destroying it deletes the files. Use the data source to refer to files that others manage."
	k.Ready, k.Shared = 6*time.Hour, true
	return k
}

// nodesRow labels nodes of the cluster of the provider block. A rule exists
// before its creation if nodes already have its labels.
func nodesRow() Kind {
	k := row("NodeLabelRule", "node_label_rule", "nodelabelrules", attrName)
	k.Owner = true
	return k
}

// accountRow needs the keys of the servers' operator, as all that make accounts.
func accountRow() Kind {
	k := row("NATSAccount", "nats_account", "natsaccounts", "namespace")
	k.Needs, k.Defers = []clients.System{clients.NATSOperator}, true
	k.Instead = "The account of a namespace on NATS servers in operator mode, with its limits. Without it, the account of a namespace has the limits of the ProviderConfig. " +
		"It needs the block `nats_operator` of the provider."
	k.About = "Destroying it ends all connections of the account; its streams stay unless `purge` is set."
	k.Says = map[string]string{
		"revokeBefore": "Revokes the credentials of all users of the account that were issued at this time or earlier, such as leaked ones. It is not in the future. " +
			"The next apply makes new ones for each `koldun_nats_user` of the namespace, and the first apply after `overlap` ends the earlier ones. " +
			"With an `overlap` of `0s`, they end at once. Default: none.",
		"overlap": "Time for which revoked credentials stay valid, up to `1h`. Default: `2m`.",
	}
	return k
}

// userRow has the namespace and the name of the managed resource of a cluster. The users
// exist as soon as their account does: only their credentials identify them.
func userRow() Kind {
	k := row("NATSUser", "nats_user", "natsusers", attrNamespace, attrName)
	k.Needs, k.Defers = []clients.System{clients.NATSOperator}, true
	k.Instead = "Users of the NATS account of a namespace, on NATS servers in operator mode, with credentials files in a Secret of the cluster. The rights of each role are fixed. " +
		"It needs the block `nats_operator` of the provider, and the account."
	k.About = "Credentials are renewed by an apply: once half of `lifetime` is over, the plan shows an update in place. " +
		"Schedule an apply more often than that, or use the Crossplane kind, which renews them by itself. Destroying it revokes the credentials."
	k.Says = map[string]string{
		"lifetime": "Life of credentials, between `10m` and `720h`. Once half of it is over, the next apply writes new ones. Default: `24h`.",
		"revokeBefore": "Revokes the credentials that were issued at this time or earlier, such as leaked ones. It is not in the future. The apply writes new ones of the same users, " +
			"which running pods take over without a restart, and the first apply after `overlap` ends the earlier ones. With an `overlap` of `0s`, they end at once. Default: none.",
		"overlap": "Time for which revoked credentials stay valid after the Secret has new ones, up to `1h`. The kubelet takes up to 90 seconds to give a changed Secret to pods; " +
			"with less, pods lose their connection until then, and requests wait. Default: `2m`.",
	}
	k.Owner, k.Within, k.Connects, k.Written, k.Shared, k.Unseen = true, true, true, true, true, true
	return k
}

// row returns the resource of a kind of the catalog, which is identified by
// attributes.
func row(kind, name, plural string, id ...string) Kind {
	k := Kind{Name: name, Plural: plural, Identity: identity.Of(id...), Ready: brief}
	for _, e := range catalog.Entries() {
		if e.Kind == kind {
			k.entry, k.Needs = e, []clients.System{clients.System(e.System)}
		}
	}
	return k
}

// load returns the kind's CRD as Terraform offers it.
func (k Kind) load() (*crd.Kind, error) {
	c, err := crd.Load(crd.Managed, k.Plural)
	if err != nil {
		return nil, err
	}
	out, spec := *c, *c.Spec
	out.Description = cmp.Or(k.Instead, c.Description)
	spec.Fields = nil
	durations := k.entry.Durations()
	for _, f := range c.Spec.Fields {
		if !slices.Contains(k.Omit, f.Name) {
			spec.Fields = append(spec.Fields, k.offer(*f, slices.Contains(durations, f.Name)))
		}
	}
	out.Spec = &spec
	return &out, nil
}

// offer returns a field of the CRD with what the row says about it.
func (k Kind) offer(f crd.Field, duration bool) *crd.Field {
	f.Duration = duration
	if f.Elem != nil {
		elem := *f.Elem
		elem.Duration = duration
		f.Elem = &elem
	}
	if v, ok := k.Defaults[f.Name]; ok {
		f.Default = v
	}
	if s, ok := k.Says[f.Name]; ok {
		f.Description = s
	}
	f.Kept = slices.Contains(k.Kept, f.Name) && f.Default == nil
	f.Immutable = f.Immutable || slices.Contains(k.Fixed, f.Name)
	return &f
}
