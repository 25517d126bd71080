package jinja

// A tokenKind is the kind of a token.
type tokenKind int

const (
	tokenEOF tokenKind = iota
	tokenData
	tokenVariableBegin
	tokenVariableEnd
	tokenBlockBegin
	tokenBlockEnd
	tokenName
	tokenString
	tokenNumber
	tokenOperator
)

// A token is a part of a template.
type token struct {
	kind  tokenKind
	line  int
	text  string // of data, names, operators, and strings without their escapes
	value Value  // of numbers
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

// describe names a token for an error.
func (t token) describe() string {
	switch t.kind {
	case tokenEOF:
		return "end of template"
	case tokenData:
		return "text"
	case tokenVariableBegin:
		return "'{{'"
	case tokenVariableEnd:
		return "'}}'"
	case tokenBlockBegin:
		return "'{%'"
	case tokenBlockEnd:
		return "'%}'"
	case tokenString:
		return "a string"
	case tokenNumber:
		return "a number"
	case tokenName, tokenOperator:
	}
	return "'" + t.text + "'"
}
