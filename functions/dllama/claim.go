package dllama

import (
	"cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/internal/names"
)

// A claim is a Dllama, with what follows from it alone.
type claim struct{ *v1.Dllama }

// uses lists what the platform team may keep to itself. A Model of its own checks its
// volume.
func (c claim) uses() []platform.Use {
	uses := platform.Runtime("spec", c.Spec.Runtime)
	if e := c.Spec.Expose; e != nil {
		uses = append(uses, platform.Gateway("spec.expose", e.GatewaySettings)...)
	}
	return uses
}

// model names the Model. An inline one has the Dllama's name, and so has the model of an
// engine that gets it by itself.
func (c claim) model() v1.ModelReference {
	if c.refers() {
		return v1.ModelReference{Namespace: cmp.Or(c.Spec.ModelRef.Namespace, c.Namespace), Name: c.Spec.ModelRef.Name}
	}
	return v1.ModelReference{Namespace: c.Namespace, Name: c.Name}
}

// modelPath is NAMESPACE/NAME of the Model.
func (c claim) modelPath() string { return c.model().Namespace + "/" + c.model().Name }

// refers reports whether the claim names a Model that exists.
func (c claim) refers() bool { return c.Spec.ModelRef != nil && c.Spec.Model == nil }

// foreign reports whether the Model is another namespace's. The pool that
// serves it is of this namespace, under the Model's name: it must not get the
// requests of the other one.
func (c claim) foreign() bool { return c.model().Namespace != c.Namespace }

// alone reports whether there is no Model: the engine gets it by itself, and the
// Dllama's own name is the model's.
func (c claim) alone() bool { return c.Spec.Model == nil && c.Spec.ModelRef == nil }

// served returns the name under which clients ask for the Dllama.
func (c claim) served() string {
	if t := c.Spec.Traffic; t != nil {
		return cmp.Or(t.Model, c.model().Name)
	}
	return c.model().Name
}

// aliased reports whether clients ask for the Dllama by another name than its Model's.
// It may then be a Model of another namespace whose own name is taken.
func (c claim) aliased() bool { return c.served() != c.model().Name }

// servedPath is NAMESPACE/NAME of what is served, for people.
func (c claim) servedPath() string {
	if c.aliased() {
		return c.Namespace + "/" + c.served()
	}
	return c.modelPath()
}

// records reports whether the Dllama lists its model itself.
func (c claim) records() bool { return (c.foreign() || c.alone()) && !c.aliased() }

// weighted reports whether the Dllama is a member of its own. The Dllamas of a
// Session are one member, which the Session adds.
func (c claim) weighted() bool {
	return c.Spec.Traffic != nil && c.Labels[v1.LabelSession] == ""
}

// scaled reports whether a pool of Dllamas serves the model, instead of pods of
// this one.
func (c claim) scaled() bool { return c.Spec.Expose != nil && c.Spec.Expose.Scaling != nil }

// usesNATS reports whether anything of the Dllama but its pods needs NATS.
func (c claim) usesNATS() bool {
	return c.Spec.Expose == nil || c.records() || c.weighted() || c.scaled() || c.Spec.IngressRef != nil
}

// member names the member of the model's name that the Dllama is, or is a part of, by the
// name that it has outside of a Session. A Session may have the name of a Dllama.
func (c claim) member(name string) string {
	if session := c.Labels[v1.LabelSession]; session != "" {
		return names.SessionGroup(session)
	}
	return name
}

// session is the pool that the root belongs to: the one that its Session
// names, else the one that all requests for the name share. It is always a
// pool of the Dllama's own namespace: a root in the pool of another one would
// read the prompts there.
func (c claim) session() string {
	shared := names.Session(c.Namespace, c.served(), "")
	if key := c.Annotations[v1.AnnotationSessionKey]; names.SessionOf(key, shared) {
		return key
	}
	return shared
}

// nodes is what the Dllama says, else what its Model says, else one.
func (c claim) nodes(models *int32) int32 {
	r := c.Spec.Runtime
	switch {
	case r.Nodes != nil:
		return *r.Nodes
	case r.ReplicaPower != nil:
		return 1 << *r.ReplicaPower
	case models != nil:
		return 1 << *models
	}
	return 1
}

// nodesField is the field that says the number of nodes, and its value for one.
func (c claim) nodesField() (field string, one int) {
	if c.Spec.Nodes != nil {
		return "spec.nodes", 1
	}
	return "spec.replicaPower", 0
}

// natsConnection is the connection of the Ingress that the Dllama composes, if it
// composes one. With it, nothing has to watch Ingresses to find it.
func (c claim) natsConnection() *v1.NATSConnection {
	if c.Spec.NATS == nil && c.Spec.Expose != nil {
		return &v1.NATSConnection{ProviderConfigRef: connection.Default()}
	}
	return c.Spec.NATS
}

// busSecret names the Secret with the connection to the queue. An Ingress of
// the Dllama's own has it already.
func (c claim) busSecret() string {
	if c.Spec.Expose != nil {
		return connection.BusSecret("ingress", c.Name)
	}
	return connection.BusSecret("dllama", c.Name)
}

// pulling returns the scheduling of pods that use the registry of the Dllama's own
// pods: with the same credentials, unless it has others.
func (c claim) pulling(s *v1.Scheduling) *v1.Scheduling {
	own := c.Spec.Scheduling
	if own == nil || len(own.ImagePullSecrets) == 0 || s != nil && len(s.ImagePullSecrets) > 0 {
		return s
	}
	out := v1.Scheduling{}
	if s != nil {
		out = *s
	}
	out.ImagePullSecrets = own.ImagePullSecrets
	return &out
}

func (c claim) owner() connection.Owner {
	return connection.Owner{Kind: "dllama", Namespace: c.Namespace, Name: c.Name}
}

// own is the Model or Ingress of the Dllama's own name.
func (c claim) own(res string) managed.Own {
	return managed.Own{Res: res, Part: partOf(res), Name: names.Object(c.Name, "dllama", res)}
}

// partOf is the name of the composed Part of a Model or Ingress.
func partOf(res string) string { return res + "-part" }

func (c claim) rootName() string     { return names.Root(c.Name) }
func (c claim) workersName() string  { return names.Object(c.Name, "workers") }
func (c claim) registryName() string { return names.Object(c.Name, "dllama", "registry") }
