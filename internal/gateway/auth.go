package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/registry"
)

const (
	anonymous  = "anonymous" // tenant of who shows no token
	tenantSize = 16          // hex digits of a token's hash that name its tenant
)

// A caller is who asks.
type caller struct {
	tenant string
	token  *registry.Token // nil: anonymous
}

// may reports whether the caller may ask the model "namespace/name".
func (c caller) may(id string) bool { return c.token == nil || c.token.Allows(id) }

// authenticated lets requests of known callers through.
func (g *Gateway) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.identify(r, time.Now())
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="koldun"`)
			refuse(w, err)
			return
		}
		c := callOf(r)
		c.caller, c.tenant = who, who.tenant
		next.ServeHTTP(w, r)
	})
}

// identify finds the caller by the SHA-256 of the presented token. What is
// presented is always hashed, so a stolen hash opens nothing.
func (g *Gateway) identify(r *http.Request, now time.Time) (caller, *refusal) {
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
	known = known && subtle.ConstantTimeCompare([]byte(token.SHA256), []byte(digest)) == 1
	switch {
	case known && token.Valid(now):
		return caller{tenant: digest[:tenantSize], token: &token}, nil
	case known, !g.cfg.AllowAnonymous:
		return caller{}, errBadToken()
	}
	// OpenAI's clients insist on sending a key: where none is needed, any will do.
	return caller{tenant: anonymous}, nil
}

// presentedToken reads "Authorization: Bearer TOKEN" or "X-Api-Key: TOKEN".
func presentedToken(r *http.Request) string {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	if found && strings.EqualFold(scheme, "Bearer") {
		if token = strings.TrimSpace(token); token != "" {
			return token
		}
	}
	return strings.TrimSpace(r.Header.Get("X-Api-Key"))
}
