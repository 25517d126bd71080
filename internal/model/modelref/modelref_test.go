package modelref_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/model/modelref"
)

func TestParse(t *testing.T) {
	commit := strings.Repeat("0a", 20)
	cases := map[string]struct {
		in   string
		want modelref.Ref
		text string // what String gives back; empty means the same as in
	}{
		"Web":         {"https://huggingface.co/org/repo", modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo"}, "hf://org/repo"},
		"WebSlash":    {"https://huggingface.co/org/repo/", modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo"}, "hf://org/repo"},
		"WebRevision": {"https://huggingface.co/org/repo/tree/v1.0", modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo", Revision: "v1.0"}, "hf://org/repo@v1.0"},
		"WebBranch":   {"https://huggingface.co/org/repo/tree/refs/pr/1", modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo", Revision: "refs/pr/1"}, "hf://org/repo@refs/pr/1"},
		"OtherHub":    {"http://hub:8080/org/repo", modelref.Ref{Scheme: modelref.Hub, Endpoint: "http://hub:8080", Repo: "org/repo"}, ""},
		"OtherHubRev": {"https://hub/org/repo/tree/a", modelref.Ref{Scheme: modelref.Hub, Endpoint: "https://hub", Repo: "org/repo", Revision: "a"}, ""},
		"Short":       {"hf://org/repo@" + commit, modelref.Ref{Scheme: modelref.Hub, Repo: "org/repo", Revision: commit}, ""},
		"OldRepo":     {"hf://gpt2", modelref.Ref{Scheme: modelref.Hub, Repo: "gpt2"}, ""},
		"S3":          {"s3://models/a/b", modelref.Ref{Scheme: modelref.S3, Bucket: "models", Path: "a/b"}, ""},
		"S3Root":      {"s3://models/", modelref.Ref{Scheme: modelref.S3, Bucket: "models"}, "s3://models"},
		"File":        {"file:///a/b", modelref.Ref{Scheme: modelref.File, Path: "/a/b"}, ""},
		"Path":        {"./a", modelref.Ref{Scheme: modelref.File, Path: "./a"}, ""},
		"Absolute":    {"/a", modelref.Ref{Scheme: modelref.File, Path: "/a"}, "file:///a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := modelref.Parse(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Parse(%q): -want +got\n%s", c.in, diff)
			}
			want := c.text
			if want == "" {
				want = c.in
			}
			if got.String() != want {
				t.Errorf("String() = %q, want %q", got, want)
			}
			again, err := modelref.Parse(got.String())
			if err != nil || again != got {
				t.Errorf("Parse(String()) = %+v, %v, want %+v", again, err, got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"Empty":       {"", "it is empty"},
		"Bare":        {"org/repo", "only https://, hf://"},
		"NoRepo":      {"https://huggingface.co/", "not a repository"},
		"ThreeParts":  {"hf://a/b/c", "not a repository"},
		"Dots":        {"hf://org/..", "not a repository"},
		"EmptyRev":    {"hf://org/repo@", "nothing follows the @"},
		"Query":       {"hf://org/repo@a?b", "not a revision"},
		"Credentials": {"https://user:secret@huggingface.co/org/repo", "holds credentials"},
		"Bucket":      {"s3://A_b/c", "not a bucket name"},
		"FileHost":    {"file://host/a", "three slashes"},
		"Scheme":      {"ftp://a/b", "only https://"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := modelref.Parse(c.in)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse(%q): %v, want it to say %q", c.in, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("Parse(%q): %v, which repeats the secret", c.in, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"hf://org/repo@main", "https://huggingface.co/a/b/tree/c", "s3://bucket/p", "file:///x", "./y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := modelref.Parse(s)
		if err != nil {
			return
		}
		again, err := modelref.Parse(ref.String())
		if err != nil || again != ref {
			t.Errorf("Parse(%q) = %+v; its text %q parses to %+v, %v", s, ref, ref, again, err)
		}
	})
}
