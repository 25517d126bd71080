// Package names derives every name that one part of Koldun writes and another
// part reads: of objects, subjects, buckets, keys and files. It is the only
// place that formats them.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxLabel is the longest DNS label and label value (RFC 1123), in bytes.
const MaxLabel = 63

// Join makes a DNS label of the parts, joined by dashes. A result over limit
// bytes, or one whose parts hold characters no label may have, is cut and ends
// in a dash and ten hex digits of the SHA-256 of the parts, so that different
// inputs have different names.
func Join(limit int, parts ...string) string {
	plain := strings.Join(parts, "-")
	clean := sanitize(plain)
	if clean == plain && len(plain) <= limit {
		return plain
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	suffix := "-" + hex.EncodeToString(sum[:5])
	if len(clean) > limit-len(suffix) {
		clean = clean[:limit-len(suffix)]
	}
	if clean = strings.TrimRight(clean, "-"); clean == "" {
		clean = "x"
	}
	return clean + suffix
}

// Object is the name of a composed object: the owner's name and a suffix. The
// limit of 52 leaves room for what Kubernetes appends: the revision hash of a
// StatefulSet (11 bytes) and a Pod's ordinal.
func Object(owner string, suffix ...string) string {
	return Join(52, append([]string{owner}, suffix...)...)
}

// Hash is the first n hex digits of the SHA-256 of the parts.
func Hash(n int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:n]
}

// sanitize replaces the characters that a DNS label cannot hold by dashes.
func sanitize(s string) string {
	b := []byte(strings.ToLower(s))
	for i, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			b[i] = '-'
		}
	}
	return strings.Trim(string(b), "-")
}
