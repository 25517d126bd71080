package supervise

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine"
)

func copied(r engine.Role, pieces ...string) string {
	var b bytes.Buffer
	o := newOutput(process(), r, &b)
	for _, p := range pieces {
		_, _ = o.stream(0).Write([]byte(p))
	}
	o.end()
	return b.String()
}

func TestCopied(t *testing.T) {
	for name, c := range map[string]struct {
		role     engine.Role
		in, want string
	}{
		"Facts":          {engine.RoleRoot, "💡 Arch: Llama\n📀 RequiredMemory: 12 MB\n", "💡 Arch: Llama\n📀 RequiredMemory: 12 MB\n"},
		"Text":           {engine.RoleRoot, "🔷 POST /v1/chat/completions\n🔹my\nsecret🔸an\nswer🔶\n🔷 GET /v1/models\n", "🔷 POST /v1/chat/completions\n[text of 25 bytes withheld]\n🔷 GET /v1/models\n"},
		"BrokenOff":      {engine.RoleRoot, "🔹secret🔸answ🚨 Execution error: Connection reset by peer\n⭕ Network is closed\n🔄 Retrying in 3 seconds...\n💿 Weights loaded\n", "[text of 83 bytes withheld]\n🔄 Retrying in 3 seconds...\n💿 Weights loaded\n"},
		"Unended":        {engine.RoleRoot, "🔹secret", "[text of 6 bytes withheld]\n"},
		"UnknownOfRoot":  {engine.RoleRoot, "my secret\n", "[line of 9 bytes withheld]\n"},
		"UnknownOfOther": {engine.RoleWorker, "a new fact\n", "a new fact\n"},
		"FalseEnd":       {engine.RoleRoot, "🔹a🔸b🔶c secret\n💿 Loaded secret\n", "[text of 38 bytes withheld]\n"},
		"JSON":           {engine.RoleRoot, "  what():  [json.exception.parse_error.101] parse error: last read: 'secret'\n", "  what():  [json.exception.parse_error.101]\n"},
		"OwnError":       {engine.RoleRoot, "🚨 Critical error: Cannot open file (/m)\n", "🚨 Critical error: Cannot open file (/m)\n"},
		"Token":          {engine.RoleRoot, "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB | secret\n", "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB |\n"},
		"Escapes":        {engine.RoleWorker, "\x1b[31mred\xff\r\n", "\ufffd[31mred\ufffd\n"},
		"Overlong":       {engine.RoleWorker, strings.Repeat("x", maxLine+1) + "\nok\n", "[line of 1025 bytes withheld]\nok\n"},
		"LongThenText":   {engine.RoleRoot, strings.Repeat("x", maxLine+9) + "🔹secret🔶\n", "[line of 1033 bytes withheld]\n[text of 11 bytes withheld]\n"},
		"NoLineFeed":     {engine.RoleRoot, "💿 Weights loaded", "💿 Weights loaded\n"},
		"EmptyLines":     {engine.RoleRoot, "\n\n💿 Weights loaded\n\n", "💿 Weights loaded\n"},
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
		whole := copied(engine.RoleRoot, before+"\n"+process().TextBegin+text)
		var pieces []string
		for p := range slices.Chunk([]byte(before+"\n"+process().TextBegin+text), min(max(size, 1), 64)) {
			pieces = append(pieces, string(p))
		}
		if d := cmp.Diff(whole, copied(engine.RoleRoot, pieces...)); d != "" {
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
		out := copied(engine.RoleRoot, process().TextBegin+"zqxj"+plain+process().TextEnd+"\n")
		if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "[text of ") {
			t.Fatalf("text came through: %q", out)
		}
	})
}

func BenchmarkCopied(b *testing.B) {
	o := newOutput(process(), engine.RoleRoot, &bytes.Buffer{})
	piece := []byte(process().TextBegin + strings.Repeat("some words ", 1000) + process().TextEnd + "\n")
	b.SetBytes(int64(len(piece)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = o.stream(0).Write(piece)
	}
}
