package engineapi

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// An effort limits a check of an answer: schemas that refer to each other twice double the
// work with each level. Each visit of a schema costs as much as the schema has keywords and
// values of its own, times the size of the value.
type effort struct{ left int }

const (
	// maxEffort is the work of some tenths of a second: 200,000 visits. Answers of people
	// have less values than tokens.
	maxEffort = 10_000_000
	visitWork = 50
	// maxProgram limits the instructions of a pattern.
	maxProgram = 4000
)

var errEffort = fmt.Errorf("the check of an answer takes more than %d steps", maxEffort)

// within runs a check that ends when the effort does.
func (e *effort) within(check func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if err, _ = p.(error); !errors.Is(err, errEffort) {
				panic(p)
			}
		}
	}()
	return check()
}

func (e *effort) spend(work int) {
	if e.left -= work; e.left < 0 {
		panic(errEffort) // the library has no other way to end a check
	}
}

// vocabulary adds a keyword to each schema, which counts its visits.
func (e *effort) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:koldun:effort",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			return &visits{effort: e, each: width(schema)}, nil
		},
	}
}

// visits counts those of one schema.
type visits struct {
	effort *effort
	each   int
}

// Validate implements jsonschema.SchemaExt.
func (v *visits) Validate(_ *jsonschema.ValidatorContext, value any) {
	v.effort.spend(visitWork + v.each)
	switch value := value.(type) {
	case []any:
		v.effort.spend(v.each * len(value) / 8)
	case map[string]any:
		v.effort.spend(v.each * len(value) / 8)
	}
}

// width returns how many keywords and values a schema has, without those inside of them.
func width(schema map[string]any) int {
	n := len(schema)
	for _, v := range schema {
		switch v := v.(type) {
		case []any:
			n += len(v)
		case map[string]any:
			n += len(v)
		}
	}
	return n
}

// pattern is a regular expression, which costs its size for each character.
type pattern struct {
	*regexp.Regexp
	effort *effort
	size   int
}

// MatchString implements jsonschema.Regexp.
func (p *pattern) MatchString(s string) bool {
	p.effort.spend(p.size*len(s)/8 + 1)
	return p.Regexp.MatchString(s)
}

// pattern compiles an expression.
func (e *effort) pattern(text string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	size, _ := constrain.SizeOf(parsed)
	if size > maxProgram {
		return nil, fmt.Errorf("the expression %.100q is too large", text)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &pattern{re, e, size}, nil
}
