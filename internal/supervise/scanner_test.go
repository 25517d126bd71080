package supervise

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func copied(r Role, pieces ...string) string {
	var b bytes.Buffer
	o := newOutput(r, &b)
	for _, p := range pieces {
		_, _ = o.stream(0).Write([]byte(p))
	}
	o.end()
	return b.String()
}

func TestCopied(t *testing.T) {
	for name, c := range map[string]struct {
		role     Role
		in, want string
	}{
		"Facts":          {Root, "💡 Arch: Llama\n📀 RequiredMemory: 12 MB\n", "💡 Arch: Llama\n📀 RequiredMemory: 12 MB\n"},
		"Text":           {Root, "🔷 POST /v1/chat/completions\n🔹my\nsecret🔸an\nswer🔶\n🔷 GET /v1/models\n", "🔷 POST /v1/chat/completions\n[text of 25 bytes withheld]\n🔷 GET /v1/models\n"},
		"BrokenOff":      {Root, "🔹secret🔸answ🚨 Execution error: Connection reset by peer\n⭕ Network is closed\n🔄 Retrying in 3 seconds...\n💿 Weights loaded\n", "[text of 83 bytes withheld]\n🔄 Retrying in 3 seconds...\n💿 Weights loaded\n"},
		"Unended":        {Root, "🔹secret", "[text of 6 bytes withheld]\n"},
		"UnknownOfRoot":  {Root, "my secret\n", "[line of 9 bytes withheld]\n"},
		"UnknownOfOther": {Worker, "a new fact\n", "a new fact\n"},
		"FalseEnd":       {Root, "🔹a🔸b🔶c secret\n💿 Loaded secret\n", "[text of 38 bytes withheld]\n"},
		"JSON":           {Root, "  what():  [json.exception.parse_error.101] parse error: last read: 'secret'\n", "  what():  [json.exception.parse_error.101]\n"},
		"OwnError":       {Root, "🚨 Critical error: Cannot open file (/m)\n", "🚨 Critical error: Cannot open file (/m)\n"},
		"Token":          {Root, "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB | secret\n", "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB |\n"},
		"Escapes":        {Worker, "\x1b[31mred\xff\r\n", "\ufffd[31mred\ufffd\n"},
		"Overlong":       {Worker, strings.Repeat("x", maxLine+1) + "\nok\n", "[line of 1025 bytes withheld]\nok\n"},
		"LongThenText":   {Root, strings.Repeat("x", maxLine+9) + "🔹secret🔶\n", "[line of 1033 bytes withheld]\n[text of 11 bytes withheld]\n"},
		"NoLineFeed":     {Root, "💿 Weights loaded", "💿 Weights loaded\n"},
		"EmptyLines":     {Root, "\n\n💿 Weights loaded\n\n", "💿 Weights loaded\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, copied(c.role, c.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzCopied(f *testing.F) {
	f.Add("💡 Arch: Llama\n", "secret", 3)
	f.Add("🔹a🔸b🔶\n", "🔶\n", 1)
	f.Add(strings.Repeat("y", maxLine), "🔶 Pred", 7)
	f.Fuzz(func(t *testing.T, before, text string, size int) {
		whole := copied(Root, before+"\n"+textBegin+text)
		var pieces []string
		for p := range slices.Chunk([]byte(before+"\n"+textBegin+text), min(max(size, 1), 64)) {
			pieces = append(pieces, string(p))
		}
		if d := cmp.Diff(whole, copied(Root, pieces...)); d != "" {
			t.Fatal("it matters how output is cut: " + d)
		}
		for line := range strings.Lines(whole) {
			for _, r := range strings.TrimSuffix(line, "\n") {
				if unicode.IsControl(r) && r != '\t' {
					t.Fatalf("control character in %q", line)
				}
			}
		}
		// A text that says nothing of the engine's does not come through.
		plain := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r == '\n' {
				return r
			}
			return 'q'
		}, text)
		out := copied(Root, textBegin+"zqxj"+plain+textEnd+"\n")
		if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "[text of ") {
			t.Fatalf("text came through: %q", out)
		}
	})
}

func BenchmarkCopied(b *testing.B) {
	o := newOutput(Root, &bytes.Buffer{})
	piece := []byte(textBegin + strings.Repeat("some words ", 1000) + textEnd + "\n")
	b.SetBytes(int64(len(piece)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = o.stream(0).Write(piece)
	}
}
