package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

const tenantSize = 16 // hex digits of a hash that name a tenant

// tenantOf names the tenant of a token. Only tokens of one namespace share one.
func tenantOf(t registry.Token) string {
	if t.Tenant == "" {
		return t.SHA256[:tenantSize]
	}
	return names.Hash(tenantSize, "tenant", t.Namespace, t.Tenant)
}

// authenticate finds the caller by the SHA-256 of the presented token. What is
// presented is always hashed, so a stolen hash opens nothing. A token counts only if it
// comes from a namespace that the gateway serves, and if it is long: a record may have the
// hash of a word.
func (g *Gateway) authenticate(r *http.Request, now time.Time) (caller, *refusal) {
	presented := presentedToken(r)
	if presented == "" {
		if g.cfg.AllowAnonymous {
			return caller{tenant: anonymous}, nil
		}
		return caller{}, errNoToken()
	}
	sum := sha256.Sum256([]byte(presented))
	digest := hex.EncodeToString(sum[:])
	token, known := g.tokens.Get(names.TokenKey(digest))
	long := len(presented) >= registry.MinTokenBytes
	known = known && long && subtle.ConstantTimeCompare([]byte(token.SHA256), []byte(digest)) == 1 && g.cfg.accepts(token)
	switch {
	case known && token.Valid(now):
		return caller{tenant: tenantOf(token), token: &token}, nil
	case !long && !g.cfg.AllowAnonymous:
		return caller{}, errShortToken()
	case known, !g.cfg.AllowAnonymous:
		return caller{}, errBadToken()
	}
	// OpenAI's clients always send a key: a gateway that needs none accepts any.
	return caller{tenant: anonymous}, nil
}

// presentedToken reads the token of "Authorization: Bearer TOKEN" or X-Api-Key, or
// of the other headers that clients of the first Koldun send: "Authorization: Token
// TOKEN", KOLDUN_API_TOKEN and X-Auth-Token. A token in the URL does not count:
// proxies write URLs to their logs.
func presentedToken(r *http.Request) string {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if found && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "Token")) {
		if token = strings.TrimSpace(token); token != "" {
			return token
		}
	}
	for _, header := range []string{"X-Api-Key", "X-Auth-Token", "Koldun_api_token"} {
		if token = strings.TrimSpace(r.Header.Get(header)); token != "" {
			return token
		}
	}
	return ""
}
