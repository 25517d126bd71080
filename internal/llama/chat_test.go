package llama

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/formats/tokenizer"
)

// fileWith is a tokenizer file with a template and end tokens.
func fileWith(template string, ends ...string) tokenizer.File {
	f := tokenizer.File{ChatTemplate: template, Tokens: []tokenizer.Token{{Text: "a"}, {Text: "<s>"}}, BOS: 1}
	for _, e := range ends {
		f.EOS = append(f.EOS, len(f.Tokens))
		f.Tokens = append(f.Tokens, tokenizer.Token{Text: e})
	}
	return f
}

func TestPrompts(t *testing.T) {
	talk := []Message{{"system", " be brief "}, {"user", "hi"}, {"assistant", "hello"}, {"user", "bye\n"}}
	cases := map[string]struct {
		file     tokenizer.File
		messages []Message
		template ChatTemplate
		want     string
		begun    string
	}{
		"Llama2": {
			fileWith("{{ '[INST] ' + content }}", "</s>"), talk, Llama2,
			"[INST] <<SYS>>\n be brief \n<</SYS>>\n\nhi [/INST]</s>hello</s>[INST] bye\n [/INST]</s>", "",
		},
		"Llama2NoSystem": {fileWith("[INST]", "</s>"), talk[1:2], Llama2, "[INST] hi [/INST]</s>", ""},
		"Llama2Trims": {
			fileWith("{{ '[INST] ' + content.strip() }}", "</s>"), talk[3:], Llama2, "[INST] bye [/INST]</s>", "",
		},
		"Llama3": {
			fileWith("<|start_header_id|>", "<|eot_id|>"), talk[:2], Llama3,
			"<|start_header_id|>system<|end_header_id|>\n\n be brief <|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>" +
				"<|start_header_id|>assistant<|end_header_id|>\n\n", "",
		},
		"Llama3Trims": {
			fileWith("'<|start_header_id|>' + message['content'] | trim + '<|eot_id|>'", "<|eot_id|>"), talk[:1], Llama3,
			"<|start_header_id|>system<|end_header_id|>\n\nbe brief<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "",
		},
		"Llama31EndsTurnsNotDocuments": {
			fileWith("<|start_header_id|>", "<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"), talk[1:2], Llama3,
			"<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", "",
		},
		"Llama3OtherEnd": {
			fileWith("<|start_header_id|>", "<end>"), talk[1:2], Llama3,
			"<|start_header_id|>user<|end_header_id|>\n\nhi<end><|start_header_id|>assistant<|end_header_id|>\n\n", "",
		},
		"DeepSeek3": {
			fileWith("<｜Assistant｜>", "<｜end▁of▁sentence｜>"), talk, DeepSeek3,
			" be brief <｜User｜>hi<｜Assistant｜>hello<｜User｜>bye\n<｜Assistant｜><think>\n", "<think>\n",
		},
		"ChatML": {
			fileWith("<|im_start|>", "<|im_end|>"), talk, ChatML,
			"<|im_start|>system\n be brief <|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nhello<|im_end|>\n" +
				"<|im_start|>user\nbye\n<|im_end|>\n<|im_start|>assistant\n", "",
		},
		"ChatMLOtherRole": {fileWith("<|im_start|>", "<|im_end|>"), []Message{{"tool", "x"}}, ChatML, "<|im_start|>assistant\n", ""},
		"FirstMarkerWins": {fileWith("<|im_start|> [INST]", "</s>"), talk[1:2], Llama2, "[INST] hi [/INST]</s>", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			chat, err := newChat(c.file, "")
			if err != nil {
				t.Fatal(err)
			}
			messages := append([]Message(nil), c.messages...)
			text, begun := chat.prompt(messages)
			if d := cmp.Diff(c.want, text); d != "" || begun != c.begun || chat.template != c.template {
				t.Errorf("template %s, begun with %q: %s", chat.template, begun, d)
			}
			if d := cmp.Diff(c.messages, messages); d != "" {
				t.Errorf("the messages were changed: %s", d)
			}
		})
	}
}

func TestTrimming(t *testing.T) {
	cases := map[string]bool{
		"message['content'] | trim":                  true,
		`message["content"]|trim`:                    true,
		"message.content | trim":                     true,
		"content.strip()":                            true,
		"message['content'].strip()":                 true,
		"message['content']":                         false,
		"content.split('</think>')[-1].lstrip('\n')": false,
		"content.strip('\n')":                        false,
		"tools | trim":                               false,
		"content | trimmed":                          false,
	}
	for template, want := range cases {
		if got := trims.MatchString(template); got != want {
			t.Errorf("template %q trims content: %v, want %v", template, got, want)
		}
	}
}

func TestNoChat(t *testing.T) {
	for name, c := range map[string]struct {
		template string
		given    ChatTemplate
		kind     fault.Kind
	}{
		"None":         {"", "", fault.Unsupported},
		"NotKnown":     {"{{ messages }}", "", fault.Unsupported},
		"GivenUnknown": {"[INST]", "alpaca", fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newChat(fileWith(c.template, "</s>"), c.given); !fault.Is(err, c.kind) {
				t.Errorf("err = %v, want kind %s", err, c.kind)
			}
		})
	}
	if c, err := newChat(fileWith("", "</s>"), ChatML); err != nil || c.template != ChatML {
		t.Errorf("a given template: %v, err = %v", c.template, err)
	}
}
