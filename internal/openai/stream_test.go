package openai

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStream(t *testing.T) {
	texts := []string{"plain", "", " ", "quote\" back\\ line\n\r tab\t nul\x00", "<think>&", "žluťoučký 🐎", "\u2028", "bad \xff\xfe"}
	for _, usage := range []bool{false, true} {
		s := NewStream(StreamOptions{ID: `id"1`, Model: "ns/m", Created: 12, IncludeUsage: usage})
		b := s.Role(nil)
		for _, text := range texts {
			b = s.Text(b, text)
		}
		b = s.Finish(b, FinishLength)
		if usage {
			b = s.Usage(b, *NewUsage(3, 4))
		}
		b = s.Done(b)
		if n := strings.Count(string(b), `"usage":null`); usage && n != len(texts)+2 || !usage && n != 0 {
			t.Errorf("%d chunks with a null usage", n)
		}

		d := NewDecoder(strings.NewReader(string(b)), 1<<10)
		var got strings.Builder
		var finish string
		var last *Usage
		for {
			e, err := d.Next()
			if err != nil {
				t.Fatal(err)
			}
			if string(e.Data) == Done {
				break
			}
			var c Chunk
			if err := json.Unmarshal(e.Data, &c); err != nil {
				t.Fatalf("%s: %v", e.Data, err)
			}
			if c.ID != `id"1` || c.Object != "chat.completion.chunk" || c.Model != "ns/m" || c.Created != 12 {
				t.Errorf("chunk = %+v", c)
			}
			last = c.Usage
			for _, choice := range c.Choices {
				if choice.Delta.Content != nil {
					got.WriteString(*choice.Delta.Content)
				}
				if choice.FinishReason != nil {
					finish = *choice.FinishReason
				}
			}
		}
		if _, err := d.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		if want := strings.ToValidUTF8(strings.Join(texts, ""), "\ufffd\ufffd"); got.String() != want {
			t.Errorf("text = %q, want %q", got.String(), want)
		}
		if finish != FinishLength {
			t.Errorf("finish = %q", finish)
		}
		want := (*Usage)(nil)
		if usage {
			want = NewUsage(3, 4)
		}
		if d := cmp.Diff(want, last); d != "" {
			t.Error(d)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\x00\xff\u2028<")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(s)
		var std string
		_ = json.Unmarshal(want, &std)
		if back != std {
			t.Fatalf("got %q, want %q", back, std)
		}
	})
}

func BenchmarkStreamText(b *testing.B) {
	s := NewStream(StreamOptions{ID: "chatcmpl-01J00000000000000000000000", Model: "default/tiny", Created: 1700000000})
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = s.Text(buf[:0], " hello")
	}
	b.SetBytes(int64(len(buf)))
}

// TestStreamOneCallPerChunk holds that a chunk has either text or one call: clients of
// OpenAI look at tool_calls[0] of a delta.
func TestStreamOneCallPerChunk(t *testing.T) {
	s := NewStream(StreamOptions{ID: "i", Model: "m"})
	b := s.Parts(nil, "Let me", &Parts{ToolCalls: []ToolCall{{Index: 0, ID: "a"}, {Index: 1, ID: "b"}}, Logprobs: &Logprobs{}})
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
		var c struct{ Choices []ChunkChoice }
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &c); err != nil {
			t.Fatal(err)
		}
		d := c.Choices[0].Delta
		kind := ""
		if d.Content != nil {
			kind += *d.Content
		}
		for _, call := range d.ToolCalls {
			kind += "call " + call.ID
		}
		got = append(got, kind)
	}
	if want := []string{"Let me", "call a", "call b"}; !slices.Equal(got, want) {
		t.Errorf("chunks are %q, want %q", got, want)
	}
}
