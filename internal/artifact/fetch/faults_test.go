package fetch_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/fetch"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/model/progress"
)

const large = "model-00001-of-00002.safetensors"

// The fetch succeeds in spite of temporary faults.
func TestOvercomes(t *testing.T) {
	cases := map[string]hubtest.Rule{
		"Truncation":     {Path: large, Times: 4, Do: hubtest.Truncate(part / 2)},
		"AtOnce":         {Path: large, Times: 3, Do: hubtest.Truncate(0)},
		"EarlyEnd":       {Path: large, Times: 4, Do: hubtest.EndEarly(part / 3)},
		"Stall":          {Path: large, Times: 3, Do: hubtest.Stall(part / 2)},
		"StallAtOnce":    {Path: large, Times: 3, Do: hubtest.Stall(1)},
		"Silence":        {Path: large, CDN: true, Times: 1, Do: hubtest.Silence()},
		"Reset":          {Times: 2, Do: hubtest.Reset()},
		"ServerError":    {Path: "/resolve/", Times: 2, Do: hubtest.Status(500, "")},
		"BadGateway":     {Path: "/cdn/", Times: 5, Do: hubtest.Status(502, "")},
		"TooMany":        {Path: "/resolve/", Times: 2, Do: hubtest.Status(429, "", "Retry-After", "20")},
		"ExpiredPlace":   {Path: "/cdn/", Skip: 2, Times: 3, Do: hubtest.Status(403, "")},
		"WrongBytes":     {Path: large, CDN: true, Times: 1, Do: hubtest.Corrupt(1000)},
		"WrongGitBytes":  {Path: "tokenizer.json", Times: 1, Do: hubtest.Corrupt(1000)},
		"WrongRange":     {Path: large, CDN: true, Times: 2, Do: hubtest.WrongRange("bytes=1-5")},
		"WrongSmallFile": {Path: "config.json", Times: 2, Do: hubtest.Corrupt(3)},
	}
	for name, rule := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := s3test.New(t).Store(t, "m")
			h := hubtest.New(t, hubtest.Options{}, light())
			h.Break(rule)
			cfg := config(t, h, to)
			var seen reports
			cfg.Progress = seen.add
			mustRun(t, cfg)
			verify(t, to, light())
			var before int64
			for _, r := range seen.all {
				if r.Bytes < before || r.Bytes > r.Total {
					t.Errorf("progress went from %d to %d of %d", before, r.Bytes, r.Total)
				}
				before = r.Bytes
			}
		})
	}
}

// The fetch treats a connection that trickles like one that stalls.
func TestOvercomesTrickle(t *testing.T) {
	t.Parallel()
	to := dirStore(t, t.TempDir())
	h := hubtest.New(t, hubtest.Options{}, light())
	h.Break(hubtest.Rule{Path: large, CDN: true, Times: 1, Do: func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"/*")
		w.WriteHeader(http.StatusPartialContent)
		body := light()[large]
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for i := range body {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
			if _, err := w.Write(body[i : i+1]); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}})
	mustRun(t, config(t, h, to))
	verify(t, to, light())
}

// With a permanent fault the fetch ends with a clear error, without a manifest,
// and with a last report of the failure.
func TestGivesUp(t *testing.T) {
	cases := map[string]struct {
		rule hubtest.Rule
		want fault.Kind
		text string
	}{
		"Gated":          {hubtest.Rule{Path: "/resolve/", Do: hubtest.Gated()}, fault.Denied, "accept its licence"},
		"Unauthorized":   {hubtest.Rule{Do: hubtest.Status(401, "")}, fault.Denied, "token"},
		"NoRepository":   {hubtest.Rule{Do: hubtest.Status(401, "RepoNotFound")}, fault.NotFound, "no such repository"},
		"NoRevision":     {hubtest.Rule{Do: hubtest.Status(404, "RevisionNotFound")}, fault.NotFound, "branch, tag or commit"},
		"FileGone":       {hubtest.Rule{Path: "/resolve/", Do: hubtest.Status(404, "EntryNotFound")}, fault.NotFound, "no such file"},
		"ServerErrors":   {hubtest.Rule{Path: "/tree/", Do: hubtest.Status(503, "")}, fault.Transient, "503"},
		"WrongBytes":     {hubtest.Rule{Path: large, CDN: true, Do: hubtest.Corrupt(9)}, fault.Corrupt, "its SHA-256 is"},
		"WrongGitBytes":  {hubtest.Rule{Path: "tokenizer.json", Do: hubtest.Corrupt(9)}, fault.Corrupt, "its git id is"},
		"WrongSmallFile": {hubtest.Rule{Path: "tokenizer.model", CDN: true, Do: hubtest.Corrupt(9)}, fault.Corrupt, "its SHA-256 is"},
		"NoRanges":       {hubtest.Rule{Path: large, CDN: true, Do: hubtest.NoRanges()}, fault.Unsupported, "cannot send parts"},
		"AlwaysReset":    {hubtest.Rule{Path: large, CDN: true, Do: hubtest.Reset()}, fault.Transient, "cannot reach"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket := s3test.New(t)
			to := bucket.Store(t, "m")
			h := hubtest.New(t, hubtest.Options{}, light())
			h.Break(c.rule)
			cfg := config(t, h, to)
			var seen reports
			cfg.Progress = seen.add
			_, err := fetch.Run(t.Context(), cfg)
			if fault.KindOf(err) != c.want || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Run = %v (%s), want %s with %q", err, fault.KindOf(err), c.want, c.text)
			}
			noManifest(t, to)
			last := seen.last(t)
			if last.Phase != progress.Failed || last.Kind != string(c.want) || last.Message == "" {
				t.Errorf("last report %+v", last)
			}
			if c.want == fault.Corrupt && bucketHas(t, to, large) && name == "WrongBytes" {
				t.Error("a corrupt file became visible")
			}
			h.Mend()
			mustRun(t, config(t, h, to))
			verify(t, to, light())
			if n := bucket.Uploads(t); n != 0 {
				t.Errorf("%d unfinished uploads are left", n)
			}
		})
	}
}

func bucketHas(t *testing.T, s objectstore.Store, name string) bool {
	t.Helper()
	_, err := s.Stat(t.Context(), name)
	return err == nil
}

// Only the hub receives the token.
func TestToken(t *testing.T) {
	h := hubtest.New(t, hubtest.Options{Token: "hf_secret"}, light())
	to := dirStore(t, t.TempDir())
	if _, err := fetch.Run(t.Context(), config(t, h, to)); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "no token is given") {
		t.Errorf("without a token: %v", err)
	}
	cfg := config(t, h, to)
	cfg.Hub = withToken(t, h.URL, "hf_secret")
	h.Forget()
	mustRun(t, cfg)
	verify(t, to, light())
	for _, r := range h.Requests() {
		if r.CDN != (r.Token == "") {
			t.Errorf("request with token %q: %+v", r.Token, r)
		}
	}
}
