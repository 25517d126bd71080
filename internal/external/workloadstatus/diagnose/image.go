package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// A refusal is what a registry or node says of an image, in words that stay the same
// over retries.
type refusal struct {
	signs  []string // in the message of the node
	codes  []string // of HTTP
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
	return []refusal{ // what may pass before what may not
		{[]string{"no such host", "connection refused", "timeout", "timed out", "deadline exceeded", "no route to host", "unreachable", "connection reset", "unexpected eof", ": eof", "x509", "tls:", "proxyconnect"}, nil,
			"the registry cannot be reached", ImagePullFailed, reach},
		{[]string{"no space left"}, nil, "the disk of the node is full", ImagePullFailed, func(fields) string { return "free the disk of the node" }},
		{[]string{"toomanyrequests", "rate limit"}, []string{"429"}, "the registry limits the rate of pulls", ImagePullFailed, credentials},
		{[]string{"unauthorized", "authentication required", "access denied", "requested access to the resource is denied", ": denied:", "no basic auth", "authorization failed"}, []string{"401", "403"},
			"unauthorized", ImageUnavailable, credentials},
		{[]string{"no match for platform", "no matching manifest", "no child with platform"}, nil, "there is none for the processor of the node", ImageUnavailable,
			func(f fields) string {
				return fmt.Sprintf("name an image for that processor, or set %s to nodes of another", f.placing("nodeSelector"))
			}},
		{[]string{"not found", "manifest unknown", "name unknown", "does not exist"}, []string{"404"}, "not found", ImageUnavailable, name},
	}
}

var (
	// names are parts of a message whose digits and words say nothing about the cause.
	names = regexp.MustCompile(`sha256:[0-9a-f]+|\bhttps?://[^\s"]+|\b\d+\.\d+\.\d+\.\d+(:\d+)?|\[[0-9a-f:]+\]:\d+`)
	// code is the status of a response.
	code = regexp.MustCompile(`status[^;]{0,80}?\b([45]\d\d)\b|\b(401) unauthorized|\b(403) forbidden|\b(404) not found|\b(429) too many`)
	// ofNode are failures of the node itself, in the words of a registry.
	ofNode = regexp.MustCompile(`executable file not found|content digest|extract layer`)
)

// refusalOf returns what a message about an image says.
func refusalOf(text, image string) (refusal, bool) {
	text = strings.ToLower(strings.ReplaceAll(text, image, ""))
	onNode := ofNode.MatchString(text)
	text = names.ReplaceAllString(text, "")
	status := ""
	if m := code.FindStringSubmatch(text); m != nil {
		status = strings.Join(m[1:], "")
	}
	for _, r := range refusals() {
		if onNode && r.reason == ImageUnavailable {
			continue
		}
		if slices.Contains(r.codes, status) || slices.ContainsFunc(r.signs, func(sign string) bool { return strings.Contains(text, sign) }) {
			return r, true
		}
	}
	return refusal{}, false
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
		if r, known := refusalOf(text, c.Image); known {
			return say(r.reason, r.what, r.mend(f))
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
