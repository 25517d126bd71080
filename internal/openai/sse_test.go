package openai

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type seen struct {
	Type, Data string
	Cut        bool
}

func readAll(d *Decoder) (events []seen, err error) {
	for {
		e, err := d.Next()
		if err != nil {
			return events, err
		}
		events = append(events, seen{e.Type, string(e.Data), e.Cut})
	}
}

func TestDecoder(t *testing.T) {
	cases := map[string]struct {
		in       string
		want     []seen
		comments []string
		err      error
	}{
		"Empty":          {in: "", err: io.EOF},
		"One":            {in: "data: a\n\n", want: []seen{{Data: "a"}}, err: io.EOF},
		"NoSpace":        {in: "data:a\n\n", want: []seen{{Data: "a"}}, err: io.EOF},
		"OneSpaceOnly":   {in: "data:  a\n\n", want: []seen{{Data: " a"}}, err: io.EOF},
		"CRLF":           {in: "data: a\r\n\r\ndata: b\r\n\r\n", want: []seen{{Data: "a"}, {Data: "b"}}, err: io.EOF},
		"CR":             {in: "data: a\r\rdata: b\r\r", want: []seen{{Data: "a"}, {Data: "b"}}, err: io.EOF},
		"ByteOrderMark":  {in: "\xef\xbb\xbfdata: a\n\n", want: []seen{{Data: "a"}}, err: io.EOF},
		"ManyLines":      {in: "data: a\ndata\ndata: b\n\n", want: []seen{{Data: "a\n\nb"}}, err: io.EOF},
		"EmptyData":      {in: "data\n\n", want: []seen{{}}, err: io.EOF},
		"Typed":          {in: "event: error\ndata: a\n\ndata: b\n\n", want: []seen{{Type: "error", Data: "a"}, {Data: "b"}}, err: io.EOF},
		"TypeWithoutAny": {in: "event: x\n\ndata: b\n\n", want: []seen{{Data: "b"}}, err: io.EOF},
		"OtherFields":    {in: "id: 1\nretry: 5\nnonsense\ndata: a\n\n", want: []seen{{Data: "a"}}, err: io.EOF},
		"Comments":       {in: ": queued position=1\n\n:\ndata: a\n\n", want: []seen{{Data: "a"}}, comments: []string{"queued position=1", ""}, err: io.EOF},
		"CutInLine":      {in: "data: a\n\ndata: [DONE]", want: []seen{{Data: "a"}, {Data: "[DONE]", Cut: true}}, err: io.EOF},
		"CutAfterLine":   {in: "data: a\n", want: []seen{{Data: "a", Cut: true}}, err: io.EOF},
		"CutWithoutData": {in: "event: a\n", err: io.EOF},
		"TooLongLine":    {in: "data: a\n\ndata: " + strings.Repeat("x", 200) + "\n\n", want: []seen{{Data: "a"}}, err: ErrEventTooLarge},
		"TooManyLines":   {in: strings.Repeat("data: xxxxxxxx\n", 20) + "\n", err: ErrEventTooLarge},
	}
	for name, c := range cases {
		for how, r := range map[string]io.Reader{
			"Whole": strings.NewReader(c.in), "ByteByByte": iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			t.Run(name+how, func(t *testing.T) {
				d := NewDecoder(r, 64)
				var comments []string
				d.Comment = func(s string) { comments = append(comments, s) }
				got, err := readAll(d)
				if !errors.Is(err, c.err) {
					t.Errorf("err = %v, want %v", err, c.err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(c.comments, comments); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func TestDecoderGivesTheReadersError(t *testing.T) {
	boom := errors.New("boom")
	d := NewDecoder(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(boom)), 64)
	got, err := readAll(d)
	if !errors.Is(err, boom) {
		t.Errorf("err = %v", err)
	}
	if d := cmp.Diff([]seen{{Data: "a"}, {Data: "b", Cut: true}}, got); d != "" {
		t.Error(d)
	}
}

func TestAppendComment(t *testing.T) {
	if got := string(AppendComment(nil, "a\nb\rc")); got != ": a b c\n\n" {
		t.Errorf("got %q", got)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\n\ndata: [DONE]"))
	f.Add([]byte("\xef\xbb\xbfevent: e\rdata\r\r"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, errWhole := readAll(NewDecoder(bytes.NewReader(in), 1<<10))
		split, errSplit := readAll(NewDecoder(iotest.OneByteReader(bytes.NewReader(in)), 1<<10))
		if d := cmp.Diff(whole, split); d != "" || !errors.Is(errWhole, errSplit) {
			t.Fatalf("reads differ by how bytes arrive: %s, %v, %v", d, errWhole, errSplit)
		}
	})
}

func FuzzAppendEvent(f *testing.F) {
	f.Add([]byte("a\nb"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.ContainsRune(data, '\r') {
			return // cannot be carried; JSON never holds one
		}
		d := NewDecoder(bytes.NewReader(AppendEvent(nil, data)), len(data))
		got, err := readAll(d)
		if !errors.Is(err, io.EOF) || len(got) != 1 || got[0].Data != string(data) || got[0].Cut {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
}
