package ingress

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/queue"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

const (
	// tenantShare is the part of a queue that the requests of one tenant may fill.
	tenantShare = 4
	// envHashSecret holds the key of the HMAC that identifies conversations.
	envHashSecret = "KOLDUN_HASH_SECRET"
	hashKey       = "hashSecret"
)

// gatewayPod has flags for what differs from the gateway's own defaults.
func (p *ingressPlan) gatewayPod() workload.Pod {
	b := p.i.Spec.Backend
	args := []string{
		"gateway",
		"--listen=:" + names.PortRef(portAPI),
		"--health-listen=:" + names.PortRef(queue.PortHealth),
		"--namespace=$(POD_NAMESPACE)",
		"--response-timeout=" + duration(b.ResponseTimeout, defaultResponseTimeout),
		"--queue-timeout=" + duration(b.QueueTimeout, defaultQueueTimeout),
	}
	if b.AllowAnonymous {
		args = append(args, "--allow-anonymous")
	}
	if r := p.i.Spec.Route; r != nil && pathType(r.PathType) == networkingv1.PathTypePrefix && base(r.Path) != "" {
		args = append(args, "--base-path="+strings.ReplaceAll(base(r.Path), "$", "$$")) // the controller sends the whole path
	}
	args = append(args, differing(b)...)
	args = append(args, allowed(b.ExtraArgs)...)
	c := workload.Container{Name: "gateway", Image: p.image(), Args: args, Secrets: []string{p.busSecret()}, Login: p.logins.Gateway(), ProbePort: queue.PortHealth, Memory: memory.Gateway(bodies(b.ExtraArgs)), Request: memory.Usual}
	if ref := p.hashRef(); ref != nil {
		c.SecretEnv = map[string]corev1.SecretKeySelector{envHashSecret: *ref}
	}
	return workload.Pod{
		Labels:       workload.Labels("gateway", "ingress", p.i.Name),
		Ports:        map[string]int32{portAPI: PortNumber, queue.PortHealth: queue.HealthNumber},
		Containers:   []workload.Container{c},
		GraceSeconds: 60,
	}
}

// bodies returns how many bytes of bodies the gateway reads at a time.
func bodies(extra []string) int64 {
	n, err := strconv.ParseInt(workload.Option(extra, "--max-body-memory"), 10, 64)
	if err != nil {
		return memory.UsualBodies // without the flag, or with a value that the gateway refuses
	}
	return n
}

// allowed returns the extra arguments that the gateway gets. References to variables
// count only in the value of a flag (--flag=value): elsewhere the value of a variable
// could make a flag that is not allowed.
func allowed(extra []string) []string {
	var args []string
	for i, ignored := range ignoredArgs(extra) {
		if !ignored {
			args = append(args, literalFlag(extra[i]))
		}
	}
	return args
}

// ignoredArgs reports for each extra argument whether it is one of the flags
// --namespace and --namespaces, or the value that follows such a flag. The schema
// refuses them, but claims from before that rule may have them. A gateway serves
// the models and accepts the tokens of its own namespace only; a Dllama whose
// modelRef names another namespace lists that Model in its own.
func ignoredArgs(extra []string) []bool {
	out := make([]bool, len(extra))
	value := false // the argument is the value of an ignored flag
	for i, arg := range extra {
		flag := strings.Contains(arg, "--namespace")
		out[i] = flag || value && !strings.HasPrefix(arg, "-")
		value = flag && !strings.Contains(arg, "=")
	}
	return out
}

// literalFlag escapes references to variables in an argument, except in the value of
// --flag=value.
func literalFlag(arg string) string {
	flag, value, found := strings.Cut(arg, "=")
	if !found || !strings.HasPrefix(arg, "--") {
		return strings.ReplaceAll(arg, "$", "$$")
	}
	return strings.ReplaceAll(flag, "$", "$$") + "=" + value
}

func differing(b v1.Backend) []string {
	var args []string
	add := func(flag string, n int64) {
		if n > 0 {
			args = append(args, "--"+flag+"="+strconv.FormatInt(n, 10))
		}
	}
	if b.Isolation != "" && b.Isolation != "model" {
		args = append(args, "--isolation="+b.Isolation)
	}
	if b.MaxSessions != defaultMaxSessions {
		add("max-sessions", int64(b.MaxSessions))
	}
	if t := b.ConversationTTL; t != nil && t.Duration != defaultConversationTTL {
		args = append(args, "--demand-ttl="+t.Duration.String())
	}
	if t := b.RequestTimeout; t != nil {
		args = append(args, "--request-timeout="+t.Duration.String())
	}
	if b.StrictParameters {
		args = append(args, "--strict-parameters")
	}
	if b.Reasoning != "" && b.Reasoning != defaultReasoning {
		args = append(args, "--reasoning="+b.Reasoning)
	}
	if r := b.Responses; r != nil {
		args = append(args, "--responses-ttl="+duration(r.TTL, defaultResponsesTTL))
		if n := queue.ResponsesBytes(*r); n != names.ResponsesMaxBytes {
			add("responses-max-bytes", n)
		}
	}
	for _, origin := range b.CORSOrigins {
		args = append(args, "--cors-origin="+origin)
	}
	if s := b.MaxBodySize; s != nil {
		add("max-body-bytes", s.Value())
	}
	if l := b.Limits; l != nil {
		add("requests-per-minute", int64(l.RequestsPerMinute))
		add("tokens-per-minute", l.TokensPerMinute)
		add("concurrent-requests", int64(l.ConcurrentRequests))
		if l.TokensMayExceed {
			args = append(args, "--tokens-may-exceed")
		}
	}
	if q := b.Queue; q != nil {
		add("max-per-session", int64(q.MaxPerSession))
		add("max-per-tenant", int64(q.MaxPerTenant))
		if q.MaxBytes != nil {
			add("max-bytes-per-tenant", q.MaxBytes.Value()/tenantShare)
		}
	}
	return args
}

// hashRef is the Secret with the key of the HMAC, if there is one.
func (p *ingressPlan) hashRef() *corev1.SecretKeySelector {
	b := p.i.Spec.Backend
	switch {
	case b.HashSecretRef != nil:
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: b.HashSecretRef.Name}, Key: b.HashSecretRef.Key}
	case b.HashSecret != "":
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: p.name("hash-secret")}, Key: hashKey}
	}
	return nil
}

// hashSecret moves an inline key to a Secret, so that it is not in the pods'
// arguments.
func (p *ingressPlan) hashSecret() (compose.Next, error) {
	b := p.i.Spec.Backend
	if b.HashSecret == "" || b.HashSecretRef != nil {
		return compose.Continue, nil
	}
	return compose.Continue, p.Desire(resHash, &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.i.Namespace, Name: p.name("hash-secret")},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{hashKey: []byte(b.HashSecret)},
	}, compose.Ready)
}

func duration(d *metav1.Duration, otherwise time.Duration) string {
	if d == nil {
		return otherwise.String()
	}
	return d.Duration.String()
}
