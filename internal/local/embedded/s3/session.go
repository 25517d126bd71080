package s3

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/iamapi/policy"
	"github.com/versity/versitygw/iamapi/types"
)

// A Session is temporary credentials of a gateway with Config.Sessions.
type Session struct {
	AccessKey, SecretKey, Token string
	Ends                        time.Time
}

// A grant is what the token of a session holds, beside its signature. So the gateway
// needs no state.
type grant struct {
	AccessKey string
	Policy    string
	Ends      time.Time
}

// NewSession returns credentials that may do what the policy allows, until ends. secret
// is the key of the gateway's account.
func NewSession(secret, policy string, ends time.Time) (Session, error) {
	g := grant{AccessKey: "ASIA" + strings.ToUpper(rand.Text()[:16]), Policy: policy, Ends: ends}
	text, err := json.Marshal(g) //nolint:gosec // it holds the name of the key, not the key
	if err != nil {
		return Session{}, err
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	token := body + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(secret), "token", body))
	return Session{AccessKey: g.AccessKey, SecretKey: secretOf(secret, token), Token: token, Ends: ends}, nil
}

func secretOf(secret, token string) string {
	return base64.RawURLEncoding.EncodeToString(sign([]byte(secret), "secret", token))
}

func sign(key []byte, parts ...string) []byte {
	for _, p := range parts {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte(p))
		key = h.Sum(nil)
	}
	return key
}

// accounts returns the account of the gateway, and its sessions.
func accounts(cfg Config) auth.IAMService {
	one := auth.NewIAMServiceSingle(auth.Account{Access: cfg.AccessKey, Secret: cfg.SecretKey, Role: auth.RoleAdmin})
	if !cfg.Sessions {
		return one
	}
	return sessions{one, cfg.SecretKey}
}

// sessions are the account of the gateway and all temporary credentials.
type sessions struct {
	auth.IAMService
	secret string
}

var (
	_ auth.SigningKeyProvider = sessions{}
	_ auth.PolicyEvaluator    = sessions{}
)

func (s sessions) grant(access, token string) (grant, error) {
	body, signature, _ := strings.Cut(token, ".")
	got, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(got, sign([]byte(s.secret), "token", body)) {
		return grant{}, auth.ErrInvalidSessionToken
	}
	var g grant
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(text, &g) != nil || g.AccessKey != access || !time.Now().Before(g.Ends) {
		return grant{}, auth.ErrInvalidSessionToken
	}
	return g, nil
}

// DeriveSigningKey returns the key that requests of a session are signed with.
func (s sessions) DeriveSigningKey(access, token, date, region, service string) ([]byte, auth.Account, error) {
	if token == "" {
		_, err := s.GetUserAccount(access) // fails: the account of the gateway needs no lookup
		return nil, auth.Account{}, err
	}
	if _, err := s.grant(access, token); err != nil {
		return nil, auth.Account{}, err
	}
	key := sign([]byte("AWS4"+secretOf(s.secret, token)), date, region, service, "aws4_request")
	return key, auth.Account{Access: access, Role: auth.RoleUser, SessionToken: token, IsSession: true}, nil
}

// EvaluatePolicy decides with the policy of the session alone: the account that made it
// may do all.
func (s sessions) EvaluatePolicy(access, token string, actions []auth.Action, resources []string, condition map[string][]string) (auth.PolicyEvaluation, error) {
	var out auth.PolicyEvaluation
	g, err := s.grant(access, token)
	if err != nil {
		return out, err
	}
	document := []types.PolicyEntry{{PolicyName: "session", PolicyDocument: g.Policy}}
	for i, resource := range resources {
		out.Decisions = append(out.Decisions, nil)
		for j, action := range actions {
			// The type of a decision has no name outside of its package: 0 is no match.
			out.Decisions[i] = append(out.Decisions[i], 0)
			switch policy.EvaluateIdentityPolicies(document, policy.RequestContext{Action: string(action), Resource: resource, Condition: condition}) {
			case policy.DecisionAllow:
				out.Decisions[i][j] = 1
			case policy.DecisionNoMatch:
			default:
				out.Decisions[i][j] = 2
			}
		}
	}
	return out, nil
}
