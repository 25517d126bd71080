package openai

import "encoding/json"

// parseTools passes on tool_choice and parallel_tool_calls only with tools: they mean
// nothing without.
//
// A forced choice is a feature of its own. To serve it, a server constrains what
// the model writes; without one it must recognise calls in what the model writes.
// Some servers do only one of the two.
func parseTools(f *fields, r *ChatRequest) {
	offered := offeredTools(f, r)
	choice := f.parseChoice(&offered)
	forced := choice != nil && !isWord(choice, "none", "auto")
	feature := FeatureTools
	if forced {
		feature = FeatureToolChoice
	}
	given := len(offered.kept) > 0
	if given {
		tools := offered.raw
		if len(offered.kept) != offered.all {
			tools, _ = Encode(offered.kept) // raw JSON always has a JSON form
		}
		r.keep(f, "tools", tools, feature, "tools")
	}
	switch {
	case choice == nil:
	case forced && !given && offered.all > 0:
		f.fail("tool_choice", CodeUnsupportedValue, "%s cannot be forced here: this server hosts no tools, and the request has no functions")
	case forced:
		r.keep(f, "tool_choice", choice, FeatureToolChoice, "a forced choice of tools")
	case given:
		r.keep(f, "tool_choice", choice, "", "")
	}
	parallel := f.m["parallel_tool_calls"]
	f.boolean("parallel_tool_calls")
	if given && parallel != nil && kindOf(parallel) != "null" {
		r.keep(f, "parallel_tool_calls", parallel, "", "")
	}
}

// A toolList is what a chat offers to the model.
type toolList struct {
	raw   json.RawMessage
	all   int               // tools of any kind
	kept  []json.RawMessage // functions
	names []string          // of the functions
	named map[string]bool   // the same
}

// offeredTools reads the tools. Those that are no functions would run on the server, or
// take a text in a grammar of their own: they are only offered, so they are left out.
func offeredTools(f *fields, r *ChatRequest) (list toolList) {
	list.raw = f.take("tools")
	if list.raw == nil || isEmpty(list.raw) {
		return toolList{}
	}
	if kindOf(list.raw) != "an array" {
		f.wrongType("tools", "an array of objects", list.raw)
		return toolList{}
	}
	list.named = map[string]bool{}
	for _, tool := range f.objects("tools", list.raw, maxTools) {
		kind, ok := tool.text("type")
		list.all++
		if ok && kind != "function" {
			r.LeftOut = append(r.LeftOut, LeftOutName(kind, "tools"))
			continue
		}
		name := functionOf(tool)
		list.kept, list.names, list.named[name] = append(list.kept, tool.raw), append(list.names, name), true
	}
	return list
}

// functionOf returns the name of a function, "" if it has none.
func functionOf(f *fields) string {
	raw := f.take("function")
	if kindOf(raw) != "an object" {
		return ""
	}
	name, _ := f.object("function", raw).text("name")
	return name
}

// parseChoice returns the choice as engines know it. A limit to some of the tools becomes
// the list of these.
func (f *fields) parseChoice(list *toolList) json.RawMessage {
	raw := f.take("tool_choice")
	if kindOf(raw) != "an object" {
		return raw
	}
	choice := f.object("tool_choice", raw)
	defer f.adopt(choice)
	switch kind, _ := choice.text("type"); kind {
	case "function":
		choice.chosen(list)
	case "allowed_tools":
		return choice.allowed(list)
	default:
		choice.fail("type", CodeUnsupportedValue, "%s must be 'function' or 'allowed_tools': this server hosts no tools")
	}
	return raw
}

// chosen reads a function, which must be one of the tools if there are any.
func (f *fields) chosen(list *toolList) string {
	name := functionOf(f)
	if list.all > 0 && !list.named[name] {
		f.fail("function.name", CodeInvalidValue, "%s must name one of 'tools'")
	}
	return name
}

// allowed leaves only the allowed functions in the list, and returns the choice among them.
func (f *fields) allowed(list *toolList) json.RawMessage {
	o := f.object("allowed_tools", f.take("allowed_tools"))
	defer f.adopt(o)
	mode, ok := o.text("mode")
	if ok && mode != "auto" && mode != "required" {
		o.fail("mode", CodeInvalidValue, "%s must be 'auto' or 'required'")
	}
	allowed := map[string]bool{}
	for _, tool := range o.objects("tools", o.array("tools"), maxTools) {
		if kind, _ := tool.text("type"); kind == "function" {
			allowed[tool.chosen(list)] = true
		}
	}
	if o.err != nil {
		return nil
	}
	var kept []json.RawMessage
	for i, name := range list.names {
		if allowed[name] {
			kept = append(kept, list.kept[i])
		}
	}
	list.kept = kept
	if mode == "required" {
		return json.RawMessage(`"required"`)
	}
	return nil
}

// functionCalls returns the calls of a message with those of custom tools as calls of
// functions whose argument is a text.
func functionCalls(f *fields, raw json.RawMessage) json.RawMessage {
	if kindOf(raw) != "an array" { // which is refused
		return raw
	}
	var calls []json.RawMessage
	changed := false
	for _, raw := range f.items("tool_calls", raw, maxTools) {
		calls = append(calls, raw)
		if kindOf(raw) != "an object" {
			continue
		}
		call := f.object("tool_calls", raw)
		custom := call.m["custom"]
		if kind, _ := call.text("type"); kind != "custom" || kindOf(custom) != "an object" {
			continue
		}
		id, _ := call.text("id")
		c := call.object("custom", custom)
		name, _ := c.text("name")
		input, _ := c.text("input")
		arguments, _ := Encode(map[string]string{"input": input})
		if b, err := Encode(AnswerCall{ID: id, Type: "function", Function: ToolFunction{Name: name, Arguments: string(arguments)}}); err == nil {
			calls[len(calls)-1], changed = b, true
		}
	}
	if !changed {
		return raw
	}
	out, err := Encode(calls)
	if err != nil {
		return raw
	}
	return out
}
