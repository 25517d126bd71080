package toolcall

// A Form is how calls are written, to make a model write them: Prefix, then each
// call as its beginning, arguments as JSON and End, with Separator between two,
// then Suffix.
type Form struct {
	Prefix, Separator, Suffix string
	before, after             string // the name, in the beginning of a call
	End                       string
	// Reads is the family whose Parser finds these calls. It is not that of the model
	// if the model writes arguments in a form of its own.
	Reads Family
}

// Begin returns the beginning of a call of a tool.
func (f Form) Begin(tool string) string { return f.before + tool + f.after }

// Form returns how the family writes calls.
func (f Family) Form() Form {
	switch f {
	case Hermes, QwenCoder, GLM:
		return Form{before: hermesBegin + "\n" + `{"name": "`, after: `", "arguments": `, End: "}\n" + hermesEnd, Separator: "\n", Reads: Hermes}
	case Llama:
		return Form{before: `{"name": "`, after: `", "parameters": `, End: "}", Separator: "; ", Reads: f}
	case Mistral:
		return Form{Prefix: mistralBegin + " [", before: `{"name": "`, after: `", "arguments": `, End: "}", Separator: ", ", Suffix: "]", Reads: f}
	case DeepSeek:
		return Form{Prefix: deepSeekBegin, before: deepSeekCall, after: deepSeekSep, End: deepSeekClose, Suffix: deepSeekEnd, Reads: f}
	case Granite:
		return Form{Prefix: graniteBegin + "[", before: `{"name": "`, after: `", "arguments": `, End: "}", Separator: ", ", Suffix: "]", Reads: f}
	case Phi:
		return Form{Prefix: phiBegin + "[", before: `{"name": "`, after: `", "arguments": `, End: "}", Separator: ", ", Suffix: "]", Reads: f}
	case Kimi:
		return Form{Prefix: kimiBegin, before: kimiCall + "functions.", after: ":0" + kimiArgs, End: kimiClose, Suffix: kimiEnd, Reads: f}
	case Pythonic, Generic:
	}
	return Form{before: `{"name": "`, after: `", "arguments": `, End: "}", Separator: "\n", Reads: Generic}
}
