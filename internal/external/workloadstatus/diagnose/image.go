package diagnose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A refusal is what a registry or node says of an image, in words that stay the same
// over retries.
type refusal struct {
	signs  []string // in the message of the node
	what   string
	reason string
	mend   func(f fields) string
}

func refusals() []refusal {
	credentials := func(f fields) string {
		return fmt.Sprintf("set %s to a Secret with credentials of the registry, or correct %s", f.placing("imagePullSecrets"), f.named())
	}
	name := func(f fields) string { return "correct " + f.named() }
	reach := func(fields) string { return "check DNS, proxy and firewall of the nodes, or name an image of a mirror" }
	return []refusal{
		{[]string{"toomanyrequests", "429", "rate limit"}, "the registry limits the rate of pulls", ImagePullFailed, credentials},
		{[]string{"unauthorized", "401", "authentication required", "access denied", "denied", "403", "no basic auth", "authorization failed"}, "unauthorized", ImageUnavailable, credentials},
		{[]string{"no match for platform", "no matching manifest", "no child with platform"}, "there is none for the processor of the node", ImageUnavailable,
			func(f fields) string {
				return fmt.Sprintf("name an image for that processor, or set %s to nodes of another", f.placing("nodeSelector"))
			}},
		{[]string{"no such host", "connection refused", "i/o timeout", "deadline exceeded", "no route to host", "unreachable", "connection reset", "x509", "tls:", "proxyconnect"}, "the registry cannot be reached", ImagePullFailed, reach},
		{[]string{"not found", "manifest unknown", "name unknown", "404", "does not exist"}, "not found", ImageUnavailable, name},
		{[]string{"no space left"}, "the disk of the node is full", ImagePullFailed, func(fields) string { return "free the disk of the node" }},
	}
}

// pull returns the problem of a container whose image is not there. The message of
// the node may leave out the cause, which is in an event then.
func pull(p *corev1.Pod, c corev1.Container, w corev1.ContainerStateWaiting, events []*corev1.Event) Diagnosis {
	f := fieldsOf(p.Labels, c.Name)
	say := func(reason, what, mend string) Diagnosis {
		return Diagnosis{Reason: reason, Message: fmt.Sprintf("Pod %q cannot pull image %q: %s; %s", p.Name, c.Image, what, mend)}
	}
	switch w.Reason {
	case "InvalidImageName":
		return say(ImageUnavailable, "it is no valid name", "correct "+f.named())
	case "ErrImageNeverPull":
		return say(ImageUnavailable, "the node does not have it, and imagePullPolicy is Never", "set imagePullPolicy to IfNotPresent, or load the image on the node")
	}
	texts := []string{w.Message}
	for _, e := range newestFirst(about(events, p.UID), "Failed") {
		if strings.Contains(e.Message, c.Image) {
			texts = append(texts, e.Message)
		}
	}
	for _, text := range texts {
		text = strings.ToLower(strings.ReplaceAll(text, c.Image, ""))
		for _, r := range refusals() {
			for _, sign := range r.signs {
				if strings.Contains(text, sign) {
					return say(r.reason, r.what, r.mend(f))
				}
			}
		}
	}
	return say(ImagePullFailed, last(w.Message), fmt.Sprintf("check %s and the registry", f.named()))
}

// last returns the last part of a chain of errors.
func last(text string) string {
	text = short(text)
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	if text == "" || strings.HasPrefix(text, "Back-off") {
		return "the node does not say why"
	}
	return text
}

// short puts a text on one line of bounded length.
func short(text string) string {
	const limit = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
