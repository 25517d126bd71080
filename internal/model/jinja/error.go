package jinja

import (
	"fmt"
	"strings"
)

// A Reason says what kind of fault an Error reports.
type Reason string

// The reasons.
const (
	Syntax      Reason = "syntax"      // the template is not valid Jinja
	Unsupported Reason = "unsupported" // valid Jinja that this package does not implement
	Raised      Reason = "raised"      // the template called raise_exception
	Failed      Reason = "failed"      // an operation is not defined for its values
	Exceeded    Reason = "exceeded"    // a limit is reached, or the context ended
)

// An Error reports why a template cannot be parsed or rendered.
type Error struct {
	Reason    Reason
	Line      int    // of the template, from 1
	Construct string // what was parsed or evaluated, such as `filter "tojson"`; can be ""
	Message   string
	cause     error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d: ", e.Line)
	if e.Construct != "" {
		b.WriteString(e.Construct + ": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the error of the context that ended the evaluation, or nil.
func (e *Error) Unwrap() error { return e.cause }

// catch stores the *Error of a panic in err. Other panics go on.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case *Error:
		*err = p
	default:
		panic(p)
	}
}

func failAt(reason Reason, line int, construct, format string, args ...any) {
	panic(&Error{Reason: reason, Line: line, Construct: construct, Message: fmt.Sprintf(format, args...)})
}
