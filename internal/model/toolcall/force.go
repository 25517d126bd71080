package toolcall

import (
	"context"
	"errors"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// A syntax is how a family writes calls whose arguments are JSON.
type syntax struct {
	prefix            string
	begin, name, end  string // of a call, around its name and arguments
	separator, suffix string
	single            bool // an answer has one call
}

// Texts around the name and the arguments of a call that is a JSON object.
const (
	openName    = `{"name": "`
	toArguments = `", "arguments": `
)

// syntaxes returns how models of the family write calls: in one of these ways.
// There is none if arguments are not JSON.
func (f Family) syntaxes() []syntax {
	list := func(prefix string) syntax {
		return syntax{prefix: prefix + "[", begin: openName, name: toArguments, end: "}", separator: ", ", suffix: "]"}
	}
	switch f {
	case Hermes:
		return []syntax{{begin: hermesBegin + "\n" + openName, name: toArguments, end: "}\n" + hermesEnd, separator: "\n"}}
	case Llama:
		return []syntax{{begin: openName, name: `", "parameters": `, end: "}", single: true}}
	case Mistral:
		return []syntax{list(mistralBegin + " "), list(mistralBegin), {begin: mistralBegin, name: mistralArgs}}
	case DeepSeek:
		return []syntax{
			{prefix: deepSeekBegin, begin: deepSeekCall + "function" + deepSeekSep, name: "\n" + fenceWithWords + "\n", end: "\n" + fence + deepSeekClose, separator: "\n", suffix: deepSeekEnd},
			{prefix: deepSeekBegin, begin: deepSeekCall, name: deepSeekSep, end: deepSeekClose, suffix: deepSeekEnd},
		}
	case Granite:
		return []syntax{list(graniteBegin)}
	case Phi:
		return []syntax{list(phiBegin), list(graniteBegin)}
	case Kimi:
		return []syntax{{prefix: kimiBegin, begin: kimiCall + "functions.", name: ":0" + kimiArgs, end: kimiClose, suffix: kimiEnd, single: true}}
	case Generic:
		return []syntax{{begin: openName, name: toArguments, end: "}", single: true}, list("")}
	case QwenCoder, Pythonic, GLM:
	}
	return nil
}

// Forces reports whether models of the family can be held to valid calls.
func (f Family) Forces() bool { return len(f.syntaxes()) > 0 }

// maxForced limits the calls of an answer that consists of calls.
const maxForced = 16

// Force returns the grammar of answers that call at least one of the tools, or
// exactly one, with arguments that their schemas allow. The error is for the
// client, or that of the end of ctx.
func (f Family) Force(ctx context.Context, tools []Tool, single bool) (*constrain.Grammar, error) {
	var all *constrain.Grammar
	for _, s := range f.syntaxes() {
		calls := make([]constrain.Call, len(tools))
		for i, t := range tools {
			calls[i] = constrain.Call{Name: t.Name, Begin: s.begin + t.Name + s.name, Schema: t.Parameters, End: s.end}
		}
		most := maxForced
		if single || s.single {
			most = 1
		}
		g, err := constrain.Calls(ctx, s.prefix, calls, s.separator, s.suffix, most)
		if err == nil && all != nil {
			g, err = constrain.Either(ctx, all, g)
		}
		if err != nil {
			return nil, err
		}
		all = g
	}
	if all == nil {
		return nil, errors.New("calls of this model cannot be forced: their arguments are not JSON")
	}
	return all, nil
}
