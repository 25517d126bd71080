package modelref_test

import (
	"fmt"

	"github.com/gorizond/koldun/internal/model/modelref"
)

func ExampleParse() {
	for _, source := range []string{
		"https://huggingface.co/gorizond/koldun-tiny/tree/main",
		"s3://models/llama/8b",
	} {
		ref, err := modelref.Parse(source)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ref, ref.Pinned())
	}
	// Output:
	// hf://gorizond/koldun-tiny@main false
	// s3://models/llama/8b false
}
