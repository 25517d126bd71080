package engineapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// lists reports whether a list has a model. Ollama lists a model that is asked for
// without a tag with the tag latest.
func lists(list openai.ModelList, model string) bool {
	return slices.ContainsFunc(list.Data, func(m openai.Model) bool { return m.ID == model || m.ID == model+":latest" })
}

// listed names the models of a list, as many as a message can hold.
func listed(list openai.ModelList) string {
	const most = 10
	var names []string
	for _, m := range list.Data[:min(len(list.Data), most)] {
		names = append(names, strconv.Quote(m.ID))
	}
	switch n := len(list.Data) - most; {
	case len(names) == 0:
		return "none"
	case n > 0:
		names = append(names, strconv.Itoa(n)+" more")
	}
	return strings.Join(names, ", ")
}
