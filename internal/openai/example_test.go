package openai_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gorizond/koldun/internal/openai"
)

// Read the events of a streamed answer.
func ExampleDecoder() {
	body := "data: {\"text\":\"one\"}\n\n: keep-alive\n\ndata: [DONE]\n\n"
	d := openai.NewDecoder(strings.NewReader(body), 1<<20)
	for {
		e, err := d.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s\n", e.Data)
	}
	// Output:
	// {"text":"one"}
	// [DONE]
}

// Write a streamed answer.
func ExampleStream() {
	s := openai.NewStream(openai.StreamOptions{ID: "chatcmpl-1", Model: "default/tiny", Created: 1})
	b := s.Text(nil, "Hello")
	b = s.Done(b)
	fmt.Printf("%s", b)
	// Output:
	// data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"default/tiny","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}
	//
	// data: [DONE]
}

// Decode a chat. Errors have the shape of the API.
func ExampleDecodeChat() {
	_, err := openai.DecodeChat([]byte(`{"model": "tiny", "messages": [{"role": "user", "content": "Hi"}], "n": 9}`))
	fmt.Println(err)
	// Output:
	// 'n' must be between 1 and 8
}
