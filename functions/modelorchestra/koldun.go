package modelorchestra

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// tokenKey is the key of a hub's token in the Secrets of a Model.
const tokenKey = "token"

// modelName is a name of models in a namespace.
var modelName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// koldun is the backend of Koldun's own kinds.
type koldun struct{ *orchestraPlan }

func (k koldun) compose(applications []application) error {
	if problem := k.check(applications); problem != "" {
		return k.refuse(problem)
	}
	front, err := k.composeGateway()
	if err != nil {
		return err
	}
	states := []state{front}
	for _, a := range applications {
		found, err := k.composeApplication(a)
		if err != nil {
			return err
		}
		k.add(a, group(a), found.serves)
		states = append(states, found)
	}
	i := slices.IndexFunc(states, func(s state) bool { return !s.serves && s.why != "" })
	if i >= 0 {
		k.Fail(states[i].why, "%s", states[i].message)
	} else {
		k.report(front.serves)
	}
	return nil
}

// check says what Koldun cannot run; empty if nothing.
func (k koldun) check(applications []application) string {
	if i := k.o.Spec.Gateway.Ingress; enabled(i.Enabled) && (len(i.Hosts) != 1 || len(i.Hosts[0].Paths) > 1) {
		return "spec.gateway.ingress.hosts: with backend Koldun a route has one host and one path"
	}
	if _, problem := envOf(k.o.Spec.Gateway.OrchestraPod); problem != "" {
		return "spec.gateway." + problem
	}
	for _, a := range applications {
		_, problem := envOf(a.OrchestraPod)
		if problem = cmp.Or(problem, invalid(a, k.runtime(a), group(a)), checkScaling(a.Scaling)); problem != "" {
			return fmt.Sprintf("spec.applications.%s.%s", a.name, problem)
		}
	}
	return ""
}

// group is the name of the model of an application.
func group(a application) string { return cmp.Or(a.ReaderConfig.ConsumerGroup, a.name) }

// envOf is the environment of a gateway or an application, or what is wrong with it.
func envOf(pod v1.OrchestraPod) (v1.PodEnv, string) {
	vars, problem := workload.ClaimVars(pod.Env)
	if problem != "" {
		problem = "env: " + problem
	}
	return v1.PodEnv{Env: vars, EnvFrom: pod.EnvFrom}, problem
}

// composeGateway composes an Ingress of Koldun. The applications are the pools, so it
// makes none.
func (k koldun) composeGateway() (state, error) {
	s := k.o.Spec
	g := s.Gateway
	env, _ := envOf(g.OrchestraPod) // check has refused what is wrong
	want := &v1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindIngress},
		ObjectMeta: metav1.ObjectMeta{Namespace: k.o.Namespace, Name: k.name()},
		Spec: v1.IngressSpec{Backend: v1.Backend{Sessions: "Static", GatewaySettings: v1.GatewaySettings{
			AllowAnonymous: s.AllowAnonymous, Resources: g.Resources, BackendEnv: env.Env, BackendEnvFrom: env.EnvFrom, BackendScheduling: k.scheduling(g.OrchestraPod),
			Replicas: max(or(g.ReplicaCount, 1), 1),
		}}},
	}
	if n := s.NATS; n != nil {
		want.Spec.Backend.NATS = &v1.IngressNATS{URL: n.URL, CredentialsSecret: n.CredentialsSecret, ProviderConfigRef: n.ProviderConfigRef}
	}
	want.Spec.Service.Port = 80
	if service := g.Service; service != nil {
		want.Spec.Service.Type, want.Spec.Service.Annotations = string(service.Type), service.Annotations
		if len(service.Ports) > 0 {
			want.Spec.Service.Port = service.Ports[0].Port
		}
	}
	want.Spec.Route = route(g.Ingress)
	own := k.own(resIngress)
	var seen v1.Ingress
	_, trouble := own.Observe(k.Call, &seen)
	k.status.URL, k.status.GatewayServiceName = seen.Status.URL, cmp.Or(seen.Status.BackendServiceName, want.Name)
	return stateOf(v1.KindIngress, want.Name, seen.Status.Conditions, trouble), own.Compose(k.Call, want, want.Spec)
}

// route of the gateway, which has one host and one path.
func route(i v1.OrchestraIngress) *v1.Route {
	if !enabled(i.Enabled) {
		return nil
	}
	path := paths(i.Hosts[0])[0]
	return &v1.Route{
		Host: i.Hosts[0].Host, Path: path.Path, PathType: path.PathType, IngressClassName: i.ClassName, Annotations: i.Annotations, TLS: i.TLS, Gateways: i.Gateways,
	}
}

func (k koldun) scheduling(pod v1.OrchestraPod) *v1.Scheduling {
	return &v1.Scheduling{NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations, Affinity: pod.Affinity, ImagePullSecrets: k.o.Spec.ImagePullSecrets}
}

// composeApplication composes a Session for an application, or Dllamas if its server
// reads no files of a Model.
func (k koldun) composeApplication(a application) (found state, err error) {
	r := k.runtime(a)
	if readsNoFiles(r.Engine) {
		return k.dllamas(a, r)
	}
	ref := a.ModelRef
	var model state
	if ref == nil {
		ref = &v1.ModelReference{Name: k.member(a.name)}
		if model, err = k.model(a, r); err != nil {
			return found, err
		}
	}
	own := k.own(resSession + a.name)
	session := &v1.Session{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindSession},
		ObjectMeta: metav1.ObjectMeta{Namespace: k.o.Namespace, Name: k.member(a.name)},
		Spec:       v1.SessionSpec{ModelRef: *ref, Runtime: r, NATS: k.o.Spec.NATS, Traffic: &v1.Traffic{Model: group(a)}, Scaling: size(a)},
	}
	var seen v1.Session
	_, trouble := own.Observe(k.Call, &seen)
	found = stateOf(v1.KindSession, session.Name, seen.Status.Conditions, trouble)
	if !found.serves && model.why != "" {
		found = model // the Session waits for it
	}
	return found, own.Compose(k.Call, session, session.Spec)
}

// member is the name of what serves an application. It leaves room for what Sessions
// add to it.
func (k koldun) member(parts ...string) string {
	return names.Object(k.full(), parts...)
}

// size of the pool of an application.
func size(a application) v1.Scaling {
	if !scaled(a.Scaling) {
		n := replicas(a.ReplicaCount)
		return v1.Scaling{MinDllamas: n, DesiredDllamas: n}
	}
	s := a.Scaling.Spec
	return v1.Scaling{
		MinDllamas: ptr(minimum(a.Scaling)), MaxDllamas: maximum(s),
		ScaleUpBacklog: or(a.Scaling.MetricTarget.Value, 10), ScaleDownIdleSeconds: max(or(s.CooldownPeriod, 300), 1),
	}
}

// model composes the Model of an application.
func (k koldun) model(a application, r v1.Runtime) (found state, err error) {
	m := &v1.Model{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindModel},
		ObjectMeta: metav1.ObjectMeta{Namespace: k.o.Namespace, Name: k.member(a.name)},
		Spec:       v1.ModelSpec{SourceURL: "hf://" + a.ReaderConfig.ModelName, NATS: k.o.Spec.NATS, Scheduling: k.scheduling(v1.OrchestraPod{}), PodEnv: r.PodEnv},
	}
	if ref := a.ReaderConfig.AccessTokenSecretRef; ref != nil {
		m.Spec.Download = &v1.Download{HuggingFaceTokenSecretRef: &v1.SecretReference{Name: ref.Name}}
	}
	if r.Engine.Server != nil {
		m.Spec.Conversion = &v1.Conversion{Type: "None"} // servers load the source files
	}
	own := k.own(resModel + a.name)
	var seen v1.Model
	_, trouble := own.Observe(k.Call, &seen)
	return stateOf(v1.KindModel, m.Name, seen.Status.Conditions, trouble), own.Compose(k.Call, m, m.Spec)
}

// dllamas composes a Dllama for each replica. One that serves is enough.
func (k koldun) dllamas(a application, r v1.Runtime) (found state, err error) {
	n := *replicas(a.ReplicaCount)
	found.serves = n == 0
	for i := range n {
		own := k.own(fmt.Sprintf(resDllama, i) + a.name)
		d := &v1.Dllama{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindDllama},
			ObjectMeta: metav1.ObjectMeta{Namespace: k.o.Namespace, Name: k.member(a.name, fmt.Sprint(i))},
			Spec:       v1.DllamaSpec{Runtime: r, NATS: k.o.Spec.NATS, Traffic: &v1.Traffic{Model: group(a)}},
		}
		var seen v1.Dllama
		_, trouble := own.Observe(k.Call, &seen)
		if one := stateOf(v1.KindDllama, d.Name, seen.Status.Conditions, trouble); one.serves || !found.serves && found.why == "" {
			found = one
		}
		if err := own.Compose(k.Call, d, d.Spec); err != nil {
			return found, err
		}
	}
	return found, nil
}
