package node_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

// TestTokens tests an endpoint for those with a token: tokens of people and of Koldun are
// issued, replaced and revoked while the gateway runs, and nothing but Secrets holds one.
func TestTokens(t *testing.T) {
	w := koldun(t)
	t.Parallel()
	tell("Tokens: they are issued, replaced and revoked while the gateway runs.")
	const ns, claims = "tokens", "testdata/tokens.yaml"
	w.pods.restricted(t, ns)
	w.Kubectl(t, "apply", "-f", claims)
	w.claims.ready(t, ns, "private")
	w.claims.holds(t, ns, "token.koldun.m.gorizond.io/robot", "Ready")
	a := access{environment: w, ns: ns, url: w.services.url(t, ns, "private-gateway")}
	a.refused(t, "nobody", "", "No API token was given")
	a.refused(t, "a stranger", "a-token-that-nobody-issued", "not known, disabled or expired")
	all := append(a.ofPeople(t), a.ofKoldun(t)...)
	a.nowhere(t, all)
	w.Kubectl(t, "delete", "-f", claims, "--wait=false", "--ignore-not-found")
	w.leftovers.none(t, ns)
}

// An access is an endpoint that wants tokens.
type access struct {
	*environment
	ns, url string
}

// ofPeople tests the token of a Secret that a person writes, and returns its values.
func (a access) ofPeople(t *testing.T) []string {
	t.Helper()
	const first, second = "alice-has-a-long-token", "alice-has-another-token"
	a.answered(t, "Alice", first)
	a.Kubectl(t, "patch", "secret/alice", "--namespace", a.ns, "--type=merge", `--patch={"stringData":{"token":"`+second+`"}}`)
	a.admitted(t, "Alice, with the token of her changed Secret,", second)
	a.refused(t, "Alice, with her earlier token,", first, "not known, disabled or expired")
	a.answered(t, "Alice", second)
	a.Kubectl(t, "annotate", "secret/alice", "--namespace", a.ns, "koldun.gorizond.io/token-disabled=true")
	a.refused(t, "Alice, whose Secret is disabled,", second, "not known, disabled or expired")
	a.Kubectl(t, "annotate", "secret/alice", "--namespace", a.ns, "koldun.gorizond.io/token-disabled-")
	a.admitted(t, "Alice, whose Secret is not disabled any more,", second)
	a.Kubectl(t, "delete", "secret/alice", "--namespace", a.ns)
	a.refused(t, "Alice, whose Secret is deleted,", second, "not known, disabled or expired")
	return []string{first, second}
}

// ofKoldun tests a generated token, and returns its values.
func (a access) ofKoldun(t *testing.T) []string {
	t.Helper()
	first := a.generated(t, "")
	a.answered(t, "The robot", first)
	// It is soon older than that. The next one lives longer than the overlap.
	a.Kubectl(t, "patch", "token.koldun.m.gorizond.io/robot", "--namespace", a.ns, "--type=merge", `--patch={"spec":{"forProvider":{"rotateAfter":"1m"}}}`)
	second := a.generated(t, first)
	a.admitted(t, "The robot, with its first token during the overlap,", first)
	a.answered(t, "The robot, with its second token,", second)
	a.refused(t, "The robot, with its first token after the overlap,", first, "not known, disabled or expired")
	a.admitted(t, "The robot, with its second token,", second)
	a.Kubectl(t, "delete", "token.koldun.m.gorizond.io/robot", "--namespace", a.ns)
	a.refused(t, "The robot, whose Token is deleted,", second, "not known, disabled or expired")
	return []string{first, second}
}

// generated waits until the Secret of the robot holds another token than the earlier one.
func (a access) generated(t *testing.T, earlier string) string {
	t.Helper()
	var token string
	cluster.Eventually(t, "a generated token", func(ctx context.Context) error {
		out, err := a.RunKubectl(ctx, "get", "secret/robot", "--namespace", a.ns, "--output=jsonpath={.data.token}")
		if err != nil {
			return err
		}
		raw, err := base64.StdEncoding.DecodeString(out)
		if err == nil && (len(raw) == 0 || string(raw) == earlier) {
			err = errors.New("it is the earlier one")
		}
		token = string(raw)
		return err
	})
	return token
}

// answered tests that a token gets the whole answer of the model.
func (a access) answered(t *testing.T, who, token string) {
	t.Helper()
	began := time.Now()
	a.admitted(t, who, token)
	streams(t, asks(a.url, token), a.ns+"/private")
	tell("Tokens: %s is answered after %s", who, time.Since(began).Round(100*time.Millisecond))
}

// takesEffect is the time limit for a change of a token, which takes about a second on an
// idle machine.
const takesEffect = time.Minute

// admitted waits until a token is known.
func (a access) admitted(t *testing.T, who, token string) {
	t.Helper()
	a.soon(t, who+" is not admitted", func(ctx context.Context) error { return lists(ctx, asks(a.url, token), a.ns+"/private") })
}

// refused waits until a token gets 401 with an explanation.
func (a access) refused(t *testing.T, who, token, says string) {
	t.Helper()
	began := time.Now()
	a.soon(t, who+" is not refused", func(ctx context.Context) error {
		got, err := asks(a.url, token).Models(ctx)
		if err == nil {
			return fmt.Errorf("want 401 that says %q, got the models %q", says, got)
		}
		var r *openai.Error
		if !errors.As(err, &r) || r.StatusCode != http.StatusUnauthorized || r.Code != "invalid_api_key" || !strings.Contains(r.Message, says) {
			return fmt.Errorf("want 401 that says %q, got: %w", says, err)
		}
		return nil
	})
	if _, _, err := asks(a.url, token).Stream(t.Context(), a.ns+"/private", question); !strings.Contains(fmt.Sprint(err), says) {
		t.Fatalf("%s asks: %v", who, err)
	}
	tell("Tokens: %s is refused after %s: 401, %s", who, time.Since(began).Round(100*time.Millisecond), says)
}

func (a access) soon(t *testing.T, not string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit(takesEffect))
	defer cancel()
	if err := cluster.Poll(ctx, ready); err != nil {
		t.Fatalf("%s: %v", not, err)
	}
}

// nowhere tests that no object but Secrets has one of the tokens, and no log.
func (a access) nowhere(t *testing.T, tokens []string) {
	t.Helper()
	var kinds []string
	for _, kind := range strings.Fields(a.Kubectl(t, "api-resources", "--namespaced", "--verbs=list", "--output=name")) {
		if kind != "secrets" {
			kinds = append(kinds, kind)
		}
	}
	shown := a.Kubectl(t, "get", strings.Join(kinds, ","), "--namespace", a.ns, "--output=yaml")
	shown += a.Kubectl(t, "logs", "--namespace", a.ns, "--selector=app.kubernetes.io/name=koldun", "--all-containers", "--tail=-1")
	shown += a.Kubectl(t, "logs", "--namespace=crossplane-system", "--selector=pkg.crossplane.io/provider=gorizond-koldun-provider", "--tail=-1")
	if !strings.Contains(shown, "name: private-gateway") {
		t.Fatalf("the objects of the namespace are missing: %s", shown)
	}
	for _, token := range tokens {
		for _, form := range []string{token, base64.StdEncoding.EncodeToString([]byte(token))} {
			if strings.Contains(shown, form) {
				t.Errorf("token %q is in an object or log", token)
			}
		}
	}
	tell("Tokens: none is in an object of %d kinds, or in a log", len(kinds))
}
