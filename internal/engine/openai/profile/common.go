package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// Operations returns those of servers that write text, and more.
func Operations(more ...openai.Operation) []string {
	return words(slices.Concat(openai.DefaultOperations(), more))
}

// Sampling returns the parameters that nearly all servers honour, and more.
func Sampling(more ...string) []string {
	return slices.Concat([]string{
		openai.HintTemperature, openai.HintTopP, openai.HintSeed, openai.HintFrequencyPenalty, openai.HintPresencePenalty,
	}, more)
}

// Features returns the names of the features.
func Features(all ...openai.Features) []string { return words(all) }

func words[S ~string](in []S) []string {
	out := make([]string, len(in))
	for i, word := range in {
		out[i] = string(word)
	}
	return out
}

// SharedByGPUs returns a Profile.SharedMemory for the queues between the processes
// of several GPUs: a server with one GPU needs none.
func SharedByGPUs(size string) func(gpus int64) string {
	return func(gpus int64) string {
		if gpus > 1 {
			return size
		}
		return ""
	}
}

// NeedsGGUF returns a Profile.Unfit that refuses all files but those of type GGUF.
// The message starts with need, such as "llama.cpp loads a .gguf file".
func NeedsGGUF(need string) func(downloads bool, model string) string {
	return func(downloads bool, model string) string {
		if downloads || strings.HasSuffix(model, ".gguf") {
			return ""
		}
		return fmt.Sprintf("%s, and %q is not one: choose one with spec.model.download.include, or name it in server.model", need, model)
	}
}
