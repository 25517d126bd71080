package hub

import "strings"

// A Reach says which hosts a client connects to. Link-local addresses, where clouds serve
// credentials, are outside of any. The zero Reach has all other addresses.
type Reach struct {
	// PublicOnly refuses hosts with addresses of this machine or of a private network,
	// redirects included, except those of Trusted, as endpoints.
	PublicOnly bool
	Trusted    []string
}

// Words of the text of a Reach.
const publicWord, anyWord = "public", "any"

// String returns the text that ParseReach reads.
func (r Reach) String() string {
	if !r.PublicOnly {
		return anyWord
	}
	return strings.Join(append([]string{publicWord}, r.Trusted...), " ")
}

// ParseReach reads the text of a Reach: "any", or "public" and the endpoints that need no
// public address. Without a text, and so without a provider that sets one, it is the zero
// Reach; an unknown text is public addresses only.
func ParseReach(text string) Reach {
	switch words := strings.Fields(text); {
	case len(words) == 0, len(words) == 1 && words[0] == anyWord:
		return Reach{}
	case words[0] == publicWord && len(words) > 1:
		return Reach{PublicOnly: true, Trusted: words[1:]}
	}
	return Reach{PublicOnly: true}
}
