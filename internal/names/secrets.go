package names

import (
	"regexp"
	"strings"
)

// Secret is the name of a Secret that Koldun composes, or has its managed resources write, for
// its own pods: the owner's name and a suffix. In contrast to Object it ends in the suffix
// whatever the owner's name is, so that OwnSecret knows it.
func Secret(owner string, suffix ...string) string {
	end := "-" + strings.Join(suffix, "-")
	return Join(52-len(end), owner) + end
}

// ownSecret are the suffixes, by what composes the Secret.
var ownSecret = regexp.MustCompile(`-((dllama|ingress|model|root|session)-(nats|nats-credentials|nats-users|s3)|dllama-token-[0-9a-f]{8}|model-hub-[0-9a-f]{8}|hub-[0-9a-f]{8}-[0-9a-f]{8})$`)

// OwnSecret reports whether a name is one that Secret gives. No claim may read a Secret of
// such a name: it holds a login of the platform, or one that is for a certain pod.
func OwnSecret(name string) bool { return ownSecret.MatchString(name) }
