package hostile_test

import (
	"net/http"
	"strings"
)

// An httpAttack is a request to the victim's gateway, and what it is answered.
type httpAttack struct {
	method, path, body string
	token              string
	header             http.Header
	status             int
	code               string
}

const chat = "/v1/chat/completions"

// httpAttacks returns requests of a caller with a token of its own namespace.
func (v *target) httpAttacks(foreign string) map[string]httpAttack {
	ask := `{"model":"default/tiny","messages":[{"role":"user","content":"x"}]}`
	mine := v.caller.Token
	return map[string]httpAttack{
		"Anonymous":          {method: "POST", path: chat, body: ask, status: 401, code: "invalid_api_key"},
		"AnonymousListing":   {method: "GET", path: "/v1/models", status: 401, code: "invalid_api_key"},
		"ForeignToken":       {method: "POST", path: chat, body: ask, token: foreign, status: 401, code: "invalid_api_key"},
		"ForeignListing":     {method: "GET", path: "/v1/models", token: foreign, status: 401, code: "invalid_api_key"},
		"GuessedToken":       {method: "POST", path: chat, body: ask, token: mine[:len(mine)-1] + "!", status: 401, code: "invalid_api_key"},
		"TokenInQuery":       {method: "GET", path: "/v1/models?api_key=" + mine, status: 401, code: "invalid_api_key"},
		"ManyTokens":         {method: "GET", path: "/v1/models", header: http.Header{"X-Api-Key": {"a", mine}}, status: 401, code: "invalid_api_key"},
		"LongToken":          {method: "GET", path: "/v1/models", token: strings.Repeat("x", 8<<10), status: 401, code: "invalid_api_key"},
		"LongHeader":         {method: "GET", path: "/v1/models", token: mine, header: http.Header{"X-Long": {strings.Repeat("x", 1<<20)}}, status: 431},
		"ModelOfOthers":      {method: "POST", path: chat, body: strings.Replace(ask, "default", "hostile", 1), token: mine, status: 404, code: "model_not_found"},
		"ModelByPath":        {method: "POST", path: chat, body: strings.Replace(ask, "default/tiny", "../default/tiny", 1), token: mine, status: 404, code: "model_not_found"},
		"ModelWithWildcard":  {method: "POST", path: chat, body: strings.Replace(ask, "default/tiny", "default/*", 1), token: mine, status: 404, code: "model_not_found"},
		"ModelAsSubject":     {method: "POST", path: chat, body: strings.Replace(ask, "default/tiny", "default/tiny.>", 1), token: mine, status: 404, code: "model_not_found"},
		"LargeBody":          {method: "POST", path: chat, body: strings.Replace(ask, `"x"`, `"`+strings.Repeat("x", 128<<10)+`"`, 1), token: mine, status: 413},
		"DeepBody":           {method: "POST", path: chat, body: `{"model":"default/tiny","messages":` + strings.Repeat("[", 30<<10), token: mine, status: 400},
		"ManyMessagesNoEnd":  {method: "POST", path: chat, body: ask[:len(ask)-1], token: mine, status: 400},
		"NotJSON":            {method: "POST", path: chat, body: "\x00\x01", token: mine, status: 400},
		"OtherHost":          {method: "GET", path: "/v1/models", token: mine, header: http.Header{"Host": {"evil.example"}}, status: 421, code: "host_not_allowed"},
		"Method":             {method: "TRACE", path: chat, token: mine, status: 405, code: "method_not_allowed"},
		"MetricsAtAPI":       {method: "GET", path: "/metrics", token: mine, status: 404, code: "unknown_url"},
		"ProfilesAtAPI":      {method: "GET", path: "/debug/pprof/heap", token: mine, status: 404, code: "unknown_url"},
		"PathOutside":        {method: "GET", path: "/v1/models/../../etc/passwd", token: mine, status: 404},
		"PriorityTooHigh":    {method: "POST", path: chat, body: ask, token: mine, header: http.Header{"X-Koldun-Priority": {"enormous"}}, status: 400},
		"NegativeLimit":      {method: "POST", path: chat, body: strings.Replace(ask, "{", `{"max_tokens":-1,`, 1), token: mine, status: 400},
		"RolesInventedByFoe": {method: "POST", path: chat, body: strings.Replace(ask, `"user"`, `"root"`, 1), token: mine, status: 400},
	}
}
