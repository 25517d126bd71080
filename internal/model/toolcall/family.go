package toolcall

import "strings"

// A Family is a format in which models write calls of tools.
type Family string

// The families.
const (
	// Hermes is an object {"name", "arguments"} between <tool_call> and
	// </tool_call>: Hermes, Qwen2.5, Qwen3, QwQ.
	Hermes Family = "hermes"
	// QwenCoder is <function=NAME> with <parameter=KEY> between <tool_call> and
	// </tool_call>: Qwen3-Coder, Qwen3.5, Nemotron 3.
	QwenCoder Family = "qwen3_coder"
	// Llama is an object {"name", "parameters"}, or several after semicolons, as
	// the whole answer or after <|python_tag|>: Llama 3.
	Llama Family = "llama3_json"
	// Pythonic is a list of calls in Python as the whole answer: small models of
	// Llama 3.2, Llama 4.
	Pythonic Family = "pythonic"
	// Mistral is [TOOL_CALLS] with a list of objects, or with names and [ARGS].
	Mistral Family = "mistral"
	// DeepSeek is a list between <｜tool▁calls▁begin｜> and <｜tool▁calls▁end｜>: R1,
	// V3, V3.1.
	DeepSeek Family = "deepseek"
	// Granite is <|tool_call|> with a list of objects.
	Granite Family = "granite"
	// Phi is functools with a list of objects, or <|tool_call|>: Phi-4-mini.
	Phi Family = "phi4_mini"
	// GLM is a name with <arg_key> and <arg_value> between <tool_call> and
	// </tool_call>: GLM 4.5, 4.6.
	GLM Family = "glm"
	// Kimi is a list between <|tool_calls_section_begin|> and
	// <|tool_calls_section_end|>: Kimi K2.
	Kimi Family = "kimi_k2"
	// Generic is what Instruct asks for: an object {"name", "arguments"}, or a list
	// of such, as the whole answer.
	Generic Family = "generic"
)

// Families returns all families.
func Families() []Family {
	return []Family{Hermes, QwenCoder, Llama, Pythonic, Mistral, DeepSeek, Granite, Phi, GLM, Kimi, Generic}
}

// Detect returns the family whose signs a chat template writes or explains. It is
// Generic if the template knows no tools, or a format that is not known here.
func Detect(template string) Family {
	has := func(text string) bool { return strings.Contains(template, text) }
	if !has("tools") {
		return Generic
	}
	switch {
	case has("<function=") && has("<parameter="):
		return QwenCoder
	case has("<arg_key>"):
		return GLM
	case has(kimiBegin):
		return Kimi
	case has(deepSeekBegin):
		return DeepSeek
	case has("[TOOL_CALLS]"):
		return Mistral
	case has("functools") || has("<|tool|>"):
		return Phi
	case has("<|tool_call|>"):
		return Granite
	case has(hermesBegin):
		return Hermes
	case has("func_name1(") || has("<|python_start|>"):
		return Pythonic
	case has("<|start_header_id|>") && has("ipython"):
		return Llama
	}
	return Generic
}

const (
	hermesBegin    = "<tool_call>"
	hermesEnd      = "</tool_call>"
	coderBegin     = "<function="
	coderEnd       = "</function>"
	pythonTag      = "<|python_tag|>"
	mistralBegin   = "[TOOL_CALLS]"
	mistralID      = "[CALL_ID]"
	mistralArgs    = "[ARGS]"
	deepSeekBegin  = "<｜tool▁calls▁begin｜>"
	deepSeekCall   = "<｜tool▁call▁begin｜>"
	deepSeekSep    = "<｜tool▁sep｜>"
	deepSeekClose  = "<｜tool▁call▁end｜>"
	deepSeekEnd    = "<｜tool▁calls▁end｜>"
	graniteBegin   = "<|tool_call|>"
	phiBegin       = "functools"
	kimiBegin      = "<|tool_calls_section_begin|>"
	kimiCall       = "<|tool_call_begin|>"
	kimiArgs       = "<|tool_call_argument_begin|>"
	kimiClose      = "<|tool_call_end|>"
	kimiEnd        = "<|tool_calls_section_end|>"
	pythonicBegin  = "<|python_start|>"
	pythonicEnd    = "<|python_end|>"
	fence          = "```"
	fenceWithWords = "```json"
)

// A grammar says where the calls of a family begin.
type grammar struct {
	signs []string // anywhere in the answer; they are no part of the block
	first []string // only at the beginning of the answer; they are part of the block
	block func(*Parser) block
}

func (f Family) grammar() grammar {
	switch f {
	case Hermes:
		return grammar{signs: []string{hermesBegin}, block: func(p *Parser) block { return &listBlock{call: jsonCall{p: p}, end: hermesEnd} }}
	case QwenCoder:
		return grammar{signs: []string{hermesBegin, coderBegin}, block: func(p *Parser) block { return &coderBlock{p: p} }}
	case Llama:
		return grammar{signs: []string{pythonTag}, first: []string{"{"}, block: func(p *Parser) block { return &listBlock{call: jsonCall{p: p}, loose: true} }}
	case Pythonic:
		return grammar{signs: []string{pythonicBegin}, first: []string{"["}, block: func(p *Parser) block { return &pythonicBlock{p: p} }}
	case Mistral:
		return grammar{signs: []string{mistralBegin}, block: func(p *Parser) block { return &mistralBlock{p: p} }}
	case DeepSeek:
		return grammar{signs: []string{deepSeekBegin}, block: func(p *Parser) block { return &taggedBlock{p: p, tags: deepSeekTags} }}
	case Granite:
		return grammar{signs: []string{graniteBegin}, block: func(p *Parser) block { return &listBlock{call: jsonCall{p: p}, list: true} }}
	case Phi:
		return grammar{signs: []string{graniteBegin, phiBegin}, block: func(p *Parser) block { return &listBlock{call: jsonCall{p: p}, list: true} }}
	case GLM:
		return grammar{signs: []string{hermesBegin}, block: func(p *Parser) block { return &glmBlock{p: p} }}
	case Kimi:
		return grammar{signs: []string{kimiBegin}, block: func(p *Parser) block { return &taggedBlock{p: p, tags: kimiTags} }}
	case Generic:
	}
	return grammar{first: []string{"{", "[", fenceWithWords, fence}, block: func(p *Parser) block {
		return &listBlock{call: jsonCall{p: p}, loose: true, list: true, fenced: true}
	}}
}
