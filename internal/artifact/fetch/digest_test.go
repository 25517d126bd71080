package fetch

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

func digestItem(body []byte) item {
	sum := sha256.Sum256(body)
	id := sha1.Sum(append([]byte(fmt.Sprintf("blob %d\x00", len(body))), body...))
	return item{size: int64(len(body)), sha256: hex.EncodeToString(sum[:]), git: hex.EncodeToString(id[:])}
}

func TestDigestResumes(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 100)
	it := digestItem(body)
	parts := [][]byte{body[:700], body[700:1400], body[1400:]}
	stored := map[int]int64{1: 700, 2: 700}
	d := newDigest(it)
	d.add(parts[0])
	d.add(parts[1])
	state := d.state()

	d = resumeDigest(it, state, stored)
	if d.parts != 2 {
		t.Fatalf("resumed at part %d, want 2", d.parts)
	}
	d.add(parts[2])
	if err := d.check(it); err != nil {
		t.Error(err)
	}

	for name, c := range map[string]struct {
		state  []byte
		stored map[int]int64
	}{
		"NoState":     {nil, stored},
		"NotJSON":     {[]byte("{"), stored},
		"PartMissing": {state, map[int]int64{2: 700, 3: 200}},
		"NoParts":     {state, nil},
		"Negative":    {[]byte(`{"parts":-1}`), stored},
		"NoHash":      {[]byte(`{"parts":2}`), stored},
		"NoGit":       {bytes.Replace(state, []byte(`"git"`), []byte(`"gut"`), 1), stored},
	} {
		t.Run(name, func(t *testing.T) {
			d := resumeDigest(it, c.state, c.stored)
			if d.parts != 0 {
				t.Fatalf("resumed at part %d", d.parts)
			}
			d.add(body)
			if err := d.check(it); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDigestFindsDifferences(t *testing.T) {
	body := []byte("0123456789")
	it := digestItem(body)
	for name, c := range map[string]struct {
		item item
		body string
	}{
		"Changed":   {it, "0123456780"},
		"Shorter":   {it, "012345678"},
		"Longer":    {it, "01234567890"},
		"GitOnly":   {item{size: 10, git: it.git}, "0123456780"},
		"OtherSize": {item{size: 9, git: it.git}, "012345678"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := newDigest(c.item).read(bytes.NewReader([]byte(c.body)), c.item); !fault.Is(err, fault.Corrupt) {
				t.Errorf("read = %v, want Corrupt", err)
			}
		})
	}
	if err := newDigest(it).read(bytes.NewReader(body), it); err != nil {
		t.Error(err)
	}
}

// Whatever stands in a record, the digest either resumes or begins anew.
func FuzzResumeDigest(f *testing.F) {
	it := digestItem([]byte("0123456789"))
	d := newDigest(it)
	d.add([]byte("01234"))
	f.Add(d.state())
	f.Add([]byte(`{"parts":1,"sha256":"AAAA","git":"AAAA"}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		d := resumeDigest(it, state, map[int]int64{1: 5})
		if d.parts < 0 || d.parts > 1 {
			t.Errorf("resumed at %d", d.parts)
		}
		d.add([]byte("x"))
		_ = d.sum()
	})
}

func TestPartSizeFor(t *testing.T) {
	const mib = 1 << 20
	for size, want := range map[int64]int64{
		0: 8 * mib, 1: 8 * mib, 80_000 * mib: 8 * mib, 80_000*mib + 1: 9 * mib, 5 << 40: 525 * mib,
	} {
		got := partSizeFor(size, 8*mib)
		if got != want || (size+got-1)/got > 10_000 {
			t.Errorf("partSizeFor(%d) = %d, want %d", size, got, want)
		}
	}
}
