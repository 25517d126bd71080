package hub_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/artifact/hub"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/fault"
)

// pauses is a clock that only Sleep moves.
type pauses struct {
	mu  sync.Mutex
	now time.Time
	all []time.Duration
}

func (p *pauses) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *pauses) Sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
	p.all = append(p.all, d)
	return ctx.Err()
}

func client(t *testing.T, h *hubtest.Hub, change func(*hub.Config)) (*hub.Client, *pauses) {
	t.Helper()
	p := &pauses{now: time.Unix(1_700_000_000, 0)}
	cfg := hub.Config{Endpoint: h.URL, Now: p.Now, Sleep: p.Sleep, Rand: func() float64 { return 0 }}
	if change != nil {
		change(&cfg)
	}
	c, err := hub.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, p
}

func files() map[string][]byte {
	return map[string][]byte{
		"config.json":                []byte(`{"model_type":"llama"}`),
		"a b/ü%41.txt":               []byte("names need escapes"),
		"model.safetensors":          bytes.Repeat([]byte("0123456789"), 1000),
		"original/consolidated.pth":  []byte("pickle"),
		"empty.json":                 nil,
		"model.safetensors.index.js": []byte("{}"),
	}
}

func TestReads(t *testing.T) {
	for _, pageSize := range []int{0, 1, 2} {
		h := hubtest.New(t, hubtest.Options{PageSize: pageSize}, files())
		c, _ := client(t, h, nil)
		commit, err := c.Resolve(t.Context(), h.Repo, "")
		if err != nil || commit != h.Commit() {
			t.Fatalf("Resolve = %q, %v, want %q", commit, err, h.Commit())
		}
		list, err := c.Tree(t.Context(), h.Repo, commit)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]byte{}
		for _, f := range list {
			body, err := c.ReadFile(t.Context(), h.Repo, commit, f.Path, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			checkFile(t, f, body)
			got[f.Path] = body
		}
		want := files()
		want["empty.json"] = []byte{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("page size %d: files (-want +got):\n%s", pageSize, diff)
		}
	}
}

func checkFile(t *testing.T, f hub.File, body []byte) {
	t.Helper()
	if f.Size != int64(len(body)) {
		t.Errorf("file %q is listed with %d bytes, has %d", f.Path, f.Size, len(body))
	}
	if f.LFS() != (strings.HasSuffix(f.Path, ".safetensors") || strings.HasSuffix(f.Path, ".pth")) {
		t.Errorf("file %q: LFS = %v", f.Path, f.LFS())
	}
	if f.LFS() {
		if sum := sha256.Sum256(body); f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("file %q is listed with SHA-256 %s", f.Path, f.SHA256)
		}
		return
	}
	sum := sha1.Sum(append([]byte(fmt.Sprintf("blob %d\x00", len(body))), body...))
	if f.OID != hex.EncodeToString(sum[:]) {
		t.Errorf("file %q is listed with id %s", f.Path, f.OID)
	}
}

func TestRanges(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, _ := client(t, h, nil)
	for _, name := range []string{"model.safetensors", "config.json"} {
		body := files()[name]
		size := int64(len(body))
		for _, r := range [][2]int64{{0, -1}, {0, size}, {0, 1}, {5, 10}, {size - 1, 1}, {3, -1}, {7, 0}} {
			in, err := c.Open(t.Context(), h.Repo, h.Commit(), name, r[0], r[1])
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(in)
			_ = in.Close()
			end := r[0] + r[1]
			if r[1] < 0 {
				end = size
			}
			if err != nil || !bytes.Equal(got, body[r[0]:end]) {
				t.Errorf("%s %v: %d bytes, %v", name, r, len(got), err)
			}
		}
		_, err := c.Open(t.Context(), h.Repo, h.Commit(), name, size+1, -1)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s beyond its end: %v, want Invalid", name, err)
		}
	}
}

// The client asks for the address of a large file once, not for every range.
func TestAsksForPlaceOnce(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, _ := client(t, h, nil)
	for i := range 10 {
		mustRead(t, c, h, "model.safetensors", int64(i), 5)
	}
	atHub := 0
	for _, r := range h.Requests() {
		if !r.CDN {
			atHub++
		}
	}
	if atHub != 1 {
		t.Errorf("%d requests at the hub for 10 ranges, want 1", atHub)
	}
	// The address expires.
	h.Break(hubtest.Rule{CDN: true, Times: 1, Do: hubtest.Status(http.StatusForbidden, "")})
	mustRead(t, c, h, "model.safetensors", 0, 5)
}

func mustRead(t *testing.T, c *hub.Client, h *hubtest.Hub, name string, offset, length int64) {
	t.Helper()
	r, err := c.Open(t.Context(), h.Repo, h.Commit(), name, offset, length)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if n, err := io.Copy(io.Discard, r); err != nil || n != length {
		t.Fatalf("read %d bytes, %v", n, err)
	}
}

func TestTokenStaysWithHub(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{Token: "hf_secret"}, files())
	c, _ := client(t, h, func(cfg *hub.Config) { cfg.Token = "hf_secret" })
	if _, err := c.Tree(t.Context(), h.Repo, h.Commit()); err != nil {
		t.Fatal(err)
	}
	mustRead(t, c, h, "model.safetensors", 0, 10)
	h.Break(hubtest.Rule{Path: "config.json", Hub: true, Times: 1, Do: hubtest.Redirect(http.StatusTemporaryRedirect, h.CDN+"/cdn/elsewhere")})
	_, _ = c.ReadFile(t.Context(), h.Repo, h.Commit(), "config.json", 100)
	seen := 0
	for _, r := range h.Requests() {
		if r.CDN {
			seen++
		}
		if r.CDN != (r.Token == "") {
			t.Errorf("request %+v carries token %q", r, r.Token)
		}
	}
	if seen < 2 {
		t.Errorf("%d requests reached the storage", seen)
	}
}

func TestAnswersBecomeFaults(t *testing.T) {
	cases := map[string]struct {
		do    hubtest.Fault
		token string
		want  fault.Kind
		text  string
		tries int // 0: one
	}{
		"Gated":           {hubtest.Gated(), "hf_x", fault.Denied, "accept its licence", 0},
		"GatedNoToken":    {hubtest.Status(401, "GatedRepo"), "", fault.Denied, "no token is given", 0},
		"NoRepo":          {hubtest.Status(401, "RepoNotFound"), "", fault.NotFound, "or it is private", 0},
		"NoRevision":      {hubtest.Status(404, "RevisionNotFound"), "", fault.NotFound, "branch, tag or commit", 0},
		"NoEntry":         {hubtest.Status(404, "EntryNotFound"), "", fault.NotFound, "no such file", 0},
		"Disabled":        {hubtest.Status(403, "DisabledRepo"), "", fault.Denied, "disabled", 0},
		"BadToken":        {hubtest.Status(401, ""), "hf_x", fault.Denied, "the hub wants a valid token (a token is given)", 0},
		"Forbidden":       {hubtest.Status(403, ""), "", fault.Denied, "access is refused", 0},
		"NotFound":        {hubtest.Status(404, ""), "", fault.NotFound, "404", 0},
		"BadRequest":      {hubtest.Status(400, ""), "", fault.Invalid, "an injected fault", 0},
		"ServerError":     {hubtest.Status(500, ""), "", fault.Transient, "500", 8},
		"Unavailable":     {hubtest.Status(503, ""), "", fault.Transient, "503", 8},
		"TooMany":         {hubtest.Status(429, ""), "", fault.Transient, "too many requests", 8},
		"Reset":           {hubtest.Reset(), "", fault.Transient, "cannot reach", 8},
		"RedirectLoop":    {hubtest.Redirect(302, "/api/models/org/model/revision/main"), "", fault.Transient, "redirects more than", 64},
		"RedirectNowhere": {hubtest.Redirect(302, "gopher://x"), "", fault.Corrupt, "no address", 0},
		"RedirectMissing": {hubtest.Redirect(302, ""), "", fault.Corrupt, "no address", 0},
		"NotJSON":         {hubtest.Body("<html>"), "", fault.Corrupt, "not a model's description", 0},
		"NoCommit":        {hubtest.Body(`{"sha":"../../x"}`), "", fault.Corrupt, "as commit", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files())
			client, _ := client(t, h, func(cfg *hub.Config) { cfg.Token = c.token })
			h.Break(hubtest.Rule{Do: c.do})
			_, err := client.Resolve(t.Context(), h.Repo, "main")
			if fault.KindOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v of kind %s, want kind %s and text %q", err, fault.KindOf(err), c.want, c.text)
			}
			if got := len(h.Requests()); got != max(1, c.tries) {
				t.Errorf("%d requests, want %d", got, max(1, c.tries))
			}
		})
	}
}

func TestBadListings(t *testing.T) {
	oid := strings.Repeat("a", 40)
	cases := map[string]string{
		"NotAListing": `{"error":"x"}`,
		"Escapes":     `[{"type":"file","path":"../x","size":1,"oid":"` + oid + `"}]`,
		"Absolute":    `[{"type":"file","path":"/etc/passwd","size":1,"oid":"` + oid + `"}]`,
		"NoPath":      `[{"type":"file","size":1,"oid":"` + oid + `"}]`,
		"Negative":    `[{"type":"file","path":"x","size":-1,"oid":"` + oid + `"}]`,
		"NoDigest":    `[{"type":"file","path":"x","size":1}]`,
		"BadDigest":   `[{"type":"file","path":"x","size":1,"oid":"` + oid + `","lfs":{"oid":"zz","size":1}}]`,
		"Twice":       `[{"type":"file","path":"x","size":1,"oid":"` + oid + `"},{"type":"file","path":"x","size":1,"oid":"` + oid + `"}]`,
	}
	for name, body := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files())
			c, _ := client(t, h, nil)
			h.Break(hubtest.Rule{Path: "/tree/", Do: hubtest.Body(body)})
			if _, err := c.Tree(t.Context(), h.Repo, h.Commit()); !fault.Is(err, fault.Corrupt) {
				t.Errorf("Tree = %v, want Corrupt", err)
			}
		})
	}
	t.Run("NextElsewhere", func(t *testing.T) {
		h := hubtest.New(t, hubtest.Options{}, files())
		c, _ := client(t, h, nil)
		h.Break(hubtest.Rule{Path: "/tree/", Do: hubtest.Header("Link", `<http://elsewhere.invalid/x>; rel="next"`)})
		if _, err := c.Tree(t.Context(), h.Repo, h.Commit()); !fault.Is(err, fault.Corrupt) {
			t.Errorf("Tree = %v, want Corrupt", err)
		}
	})
}

func TestWaits(t *testing.T) {
	cases := map[string]struct {
		header []string
		status int
		want   []time.Duration
	}{
		"Backoff":       {nil, 503, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"RetryAfter":    {[]string{"Retry-After", "7"}, 503, []time.Duration{250 * time.Millisecond, 6750 * time.Millisecond, 500 * time.Millisecond, 6500 * time.Millisecond}},
		"RetryAfterDay": {[]string{"Retry-After", time.Unix(1_700_000_000+60, 0).UTC().Format(http.TimeFormat)}, 429, nil},
		"RateLimit":     {[]string{"RateLimit", `"api";r=0;t=55`}, 429, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files())
			client, p := client(t, h, nil)
			h.Break(hubtest.Rule{Times: 2, Do: hubtest.Status(c.status, "", c.header...)})
			began := p.Now()
			if _, err := client.Resolve(t.Context(), h.Repo, "main"); err != nil {
				t.Fatal(err)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, p.all); diff != "" {
					t.Errorf("pauses (-want +got):\n%s", diff)
				}
				return
			}
			if waited := p.Now().Sub(began); waited < 55*time.Second || waited > 2*time.Minute {
				t.Errorf("waited %s in all", waited)
			}
		})
	}
}

// An exhausted limit delays the next request before the hub refuses it.
func TestUsedUpLimitHoldsBack(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, p := client(t, h, nil)
	h.Break(hubtest.Rule{Times: 1, Do: hubtest.Header("RateLimit", `"api";r=0;t=30`)})
	if _, err := c.Resolve(t.Context(), h.Repo, "main"); err != nil {
		t.Fatal(err)
	}
	if len(p.all) != 0 {
		t.Errorf("paused %v for an answer that came", p.all)
	}
	if _, err := c.Tree(t.Context(), h.Repo, h.Commit()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]time.Duration{30 * time.Second}, p.all); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestDoesNotWaitForever(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, p := client(t, h, nil)
	h.Break(hubtest.Rule{Do: hubtest.Status(429, "", "Retry-After", "86400")})
	_, err := c.Resolve(t.Context(), h.Repo, "main")
	if !fault.Is(err, fault.Transient) || !strings.Contains(err.Error(), "24h0m0s") {
		t.Errorf("error %v", err)
	}
	if len(h.Requests()) != 1 || p.Now().Sub(time.Unix(1_700_000_000, 0)) > time.Minute {
		t.Errorf("%d requests, pauses %v", len(h.Requests()), p.all)
	}
}

func TestBrokenBodies(t *testing.T) {
	cases := map[string]struct {
		do   hubtest.Fault
		want error
	}{
		"Truncated": {hubtest.Truncate(1000), io.ErrUnexpectedEOF},
		"EndsEarly": {hubtest.EndEarly(1000), io.ErrUnexpectedEOF},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hubtest.New(t, hubtest.Options{}, files())
			client, _ := client(t, h, nil)
			h.Break(hubtest.Rule{CDN: true, Do: c.do})
			r, err := client.Open(t.Context(), h.Repo, h.Commit(), "model.safetensors", 0, 5000)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, r)
			if n != 1000 || !errors.Is(err, c.want) || !fault.Is(err, fault.Transient) {
				t.Errorf("read %d bytes, %v", n, err)
			}
			_ = r.Close()
		})
	}
}

func TestRangesNotKept(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, _ := client(t, h, nil)
	h.Break(hubtest.Rule{CDN: true, Times: 2, Do: hubtest.NoRanges()})
	if _, err := c.Open(t.Context(), h.Repo, h.Commit(), "model.safetensors", 5, 5); !fault.Is(err, fault.Unsupported) {
		t.Errorf("no ranges: %v, want Unsupported", err)
	}
	mustRead(t, c, h, "model.safetensors", 0, 5)
	h.Break(hubtest.Rule{CDN: true, Times: 1, Do: hubtest.WrongRange("bytes=6-10")})
	if _, err := c.Open(t.Context(), h.Repo, h.Commit(), "model.safetensors", 5, 5); !fault.Is(err, fault.Transient) {
		t.Errorf("another range: %v, want Transient", err)
	}
}

func TestCancel(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, err := hub.New(hub.Config{Endpoint: h.URL})
	if err != nil {
		t.Fatal(err)
	}
	h.Break(hubtest.Rule{CDN: true, Do: hubtest.Stall(100)})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := c.Open(ctx, h.Repo, h.Commit(), "model.safetensors", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Read(make([]byte, 1)); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Read after cancel: %v", err)
	}
	_ = r.Close()
	if _, err := c.Resolve(ctx, h.Repo, "main"); !fault.Is(err, fault.Interrupted) {
		t.Errorf("Resolve after cancel: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, endpoint := range []string{"huggingface.co", "ftp://x", "https://user:pw@x", "https://x?y", "http://"} {
		if _, err := hub.New(hub.Config{Endpoint: endpoint}); !fault.Is(err, fault.Invalid) {
			t.Errorf("New(%q) = %v, want Invalid", endpoint, err)
		}
	}
	if _, err := hub.New(hub.Config{Token: "a\nb"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a token with a line break: %v", err)
	}
}

func TestReadFileLimit(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{}, files())
	c, _ := client(t, h, nil)
	if _, err := c.ReadFile(t.Context(), h.Repo, h.Commit(), "model.safetensors", 9_999); !fault.Is(err, fault.Unsupported) {
		t.Errorf("ReadFile over its limit: %v", err)
	}
	b, err := c.ReadFile(t.Context(), h.Repo, h.Commit(), "model.safetensors", 10_000)
	if err != nil || len(b) != 10_000 {
		t.Errorf("ReadFile = %d bytes, %v", len(b), err)
	}
}
