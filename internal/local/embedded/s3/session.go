package s3

import (
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"path"
	"strings"

	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/iamapi/policy"
	"github.com/versity/versitygw/iamapi/types"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

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

// DeriveSigningKey returns the key that requests of a session are signed with (AWS Signature
// Version 4).
func (s sessions) DeriveSigningKey(access, token, date, region, service string) ([]byte, auth.Account, error) {
	if token == "" {
		_, err := s.GetUserAccount(access) // fails: the account of the gateway needs no lookup
		return nil, auth.Account{}, err
	}
	_, secret, ok := s3store.Signed(s.secret, access, token)
	if !ok {
		return nil, auth.Account{}, auth.ErrInvalidSessionToken
	}
	key := []byte("AWS4" + secret)
	for _, part := range []string{date, region, service, "aws4_request"} {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte(part))
		key = h.Sum(nil)
	}
	return key, auth.Account{Access: access, Role: auth.RoleUser, SessionToken: token, IsSession: true}, nil
}

// EvaluatePolicy decides with the policy of the session alone: the account that made it
// may do all.
func (s sessions) EvaluatePolicy(access, token string, actions []auth.Action, resources []string, condition map[string][]string) (auth.PolicyEvaluation, error) {
	var out auth.PolicyEvaluation
	granted, _, ok := s3store.Signed(s.secret, access, token)
	if !ok {
		return out, auth.ErrInvalidSessionToken
	}
	if prefixes := condition[prefixKey]; len(prefixes) > 0 {
		condition = maps.Clone(condition)
		condition[prefixKey] = []string{cleaned(prefixes[0])} // the request has one
	}
	document := []types.PolicyEntry{{PolicyName: "session", PolicyDocument: granted}}
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

const prefixKey = "s3:prefix"

// cleaned returns a prefix as the path that it leads to: objects are files here, and policies
// compare text.
func cleaned(prefix string) string {
	out := strings.TrimPrefix(path.Clean("/"+prefix), "/")
	if out != "" && strings.HasSuffix(prefix, "/") {
		out += "/"
	}
	return out
}
