package openai

import (
	"encoding/json"
	"net/http"
)

// An ErrorType is the coarse class of an Error.
type ErrorType string

// The error types, as OpenAI uses them.
const (
	InvalidRequest ErrorType = "invalid_request_error"
	Authentication ErrorType = "authentication_error"
	Permission     ErrorType = "permission_error"
	RateLimit      ErrorType = "rate_limit_error"
	ServerError    ErrorType = "server_error"
)

// Codes of errors in a request.
const (
	CodeInvalidJSON       = "invalid_json"
	CodeInvalidType       = "invalid_type"
	CodeInvalidValue      = "invalid_value"
	CodeMissing           = "missing_required_parameter"
	CodeUnsupported       = "unsupported_parameter"
	CodeUnsupportedValue  = "unsupported_value"
	CodeModelNotFound     = "model_not_found"
	CodeContextLength     = "context_length_exceeded"
	CodeInvalidKey        = "invalid_api_key"
	CodeRateLimitExceeded = "rate_limit_exceeded"
)

// An Error is OpenAI's error object. On the wire it stands in an envelope:
// {"error": {...}}.
type Error struct {
	Status  int // HTTP status; not part of the object
	Message string
	Type    ErrorType
	Param   string // the parameter at fault, such as "messages[0].content"; "" is null on the wire
	Code    string // stable word for programs; "" is null on the wire
}

func (e *Error) Error() string { return e.Message }

type wireError struct {
	Message string    `json:"message"`
	Type    ErrorType `json:"type"`
	Param   *string   `json:"param"`
	Code    *string   `json:"code"`
}

type errorEnvelope struct {
	Error *wireError `json:"error"`
}

// MarshalJSON writes the envelope with the object in it.
func (e *Error) MarshalJSON() ([]byte, error) {
	w := wireError{Message: e.Message, Type: e.Type}
	if e.Param != "" {
		w.Param = &e.Param
	}
	if e.Code != "" {
		w.Code = &e.Code
	}
	return Encode(errorEnvelope{Error: &w})
}

// UnmarshalJSON reads the envelope. Status stays as it is.
func (e *Error) UnmarshalJSON(b []byte) error {
	var env errorEnvelope
	if err := json.Unmarshal(b, &env); err != nil {
		return err
	}
	if env.Error == nil {
		env.Error = &wireError{}
	}
	e.Message, e.Type, e.Param, e.Code = env.Error.Message, env.Error.Type, "", ""
	if env.Error.Param != nil {
		e.Param = *env.Error.Param
	}
	if env.Error.Code != nil {
		e.Code = *env.Error.Code
	}
	return nil
}

// BadRequest is a 400 about one parameter. It shortens texts that a client may have written.
func BadRequest(param, code, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: InvalidRequest, Param: cut(param, mostParam), Code: code, Message: cut(message, mostMessage)}
}
