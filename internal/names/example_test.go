package names_test

import (
	"fmt"

	"github.com/gorizond/koldun/internal/names"
)

// The session key of a model is a token of subjects and a key of buckets.
func ExampleSession() {
	shared := names.Session("default", "llama-8b", "")
	separate := names.Session("default", "llama-8b", "conversation-1")
	fmt.Println(shared)
	fmt.Println(separate)
	fmt.Println(names.SessionOf(separate, shared))
	fmt.Println(names.RequestSubject(shared, "anonymous"))
	// Output:
	// default_llama-8b
	// default_llama-8b_413055e0cb3a7c6d
	// true
	// koldun.v1.req.default_llama-8b.anonymous
}
