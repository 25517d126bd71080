package parity

import (
	"slices"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// credentials is the name of the Secret that the users of a scenario are written into.
const credentials = "credentials"

// operated reports whether the resource of a scenario is on servers in operator mode. The
// NATS login of koldun up is of one account.
func (c scenario) operated() bool { return c.resource == "nats_account" || c.resource == "nats_user" }

func accountScenarios() []scenario {
	const past = "2020-01-31T00:00:00Z"
	account := standardScenarios("nats_account", "natsaccounts",
		object{"namespace": "team"},
		object{"namespace": "team", "connections": 20, "diskBytes": 1 << 20, "streams": 12, "revokeBefore": past, "overlap": "1m", "purge": true},
		object{"namespace": "team", "connections": 30, "diskBytes": 2 << 20, "streams": 13, "overlap": "2m", "purge": false})
	gateway := object{"name": "gateway", "role": "gateway"}
	users := standardScenarios("nats_user", "natsusers",
		object{"users": []any{gateway}},
		object{"users": []any{
			gateway,
			object{"name": "one", "role": "runner", "session": "a.b", "runner": "r", "model": "team/tiny"},
			object{"name": "fetch", "role": "job", "progress": "fetch.tiny"},
		}, "lifetime": "1h", "revokeBefore": past, "overlap": "1m"},
		object{"users": []any{gateway, object{"name": "one", "role": "dispatcher"}}, "lifetime": "2h", "overlap": "2m"})
	for i, c := range users {
		users[i].manifest = object{"writeConnectionSecretToRef": object{"name": credentials}}
		users[i].terraform = object{
			"namespace": c.namespace(), "name": resourceName, "write_secret_to": object{"name": c.namespace(), "namespace": "default"},
		}
	}
	out := slices.Concat(account, users)
	for i, c := range out {
		out[i].prepare = func(s *servers) {
			s.namespace, s.operator = c.namespace(), natstest.StartOperator(s.t)
			if c.resource == "nats_account" {
				return
			}
			// The Provider would give its usual limits to an account without its own.
			if err := s.operator.Accounts().Set(s.t.Context(), s.namespace, natsauth.Limits{Streams: 12}, true); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return out
}

// keys returns the keys of the operator.
func (s *servers) keys() object {
	out := object{}
	for k, v := range s.operator.OperatorSecret() {
		out[k] = string(v)
	}
	return out
}

// accounts adds the account of the scenario's namespace, and the users of the Secret that
// the server accepts.
func (s *servers) accounts(out map[string]string) {
	s.t.Helper()
	if s.operator == nil {
		return
	}
	state, err := s.operator.Accounts().State(s.t.Context(), s.namespace)
	if fault.Is(err, fault.NotFound) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	flatten(out, "account "+state.ID, object{"limits": state.Limits, "own": state.Own, "disabled": state.Disabled, "current": state.Current})
	var secret corev1.Secret
	if err := s.kubernetes.Client().Get(s.t.Context(), s.written, &secret); err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	for name, v := range secret.Data {
		if user, ok := strings.CutSuffix(name, ".creds"); ok && s.accepts(string(v)) {
			flatten(out, "user "+user, s.rights(string(v)))
		}
	}
}

// accepts reports whether the server accepts credentials.
func (s *servers) accepts(creds string) bool {
	s.t.Helper()
	b, err := bus.Connect(waittest.Context(s.t), bus.Config{URL: s.operator.URL(), Creds: creds, WithoutJetStream: true, Patience: time.Millisecond})
	if fault.Is(err, fault.Denied) {
		return false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	b.Close()
	return true
}

// rights returns what credentials are good for: the account, the key of the role, the
// values of its subjects, and their life.
func (s *servers) rights(creds string) object {
	s.t.Helper()
	token, err := jwt.ParseDecoratedJWT([]byte(creds))
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := jwt.DecodeUserClaims(token)
	if err != nil {
		s.t.Fatal(err)
	}
	return object{"account": c.IssuerAccount, "role": c.Issuer, "tags": c.Tags, "life": c.Expires - c.IssuedAt}
}

// to names the Secret that the users of the scenario are written into.
func (s *servers) to(namespace, name string) {
	s.written = types.NamespacedName{Namespace: namespace, Name: name}
}
