package main_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/model/progress"
	"github.com/gorizond/koldun/test/waittest"
)

// A Job answers with its progress while it downloads.
func TestJobServesItsProgress(t *testing.T) {
	h, _ := remote(t, hubtest.Options{})
	h.Break(hubtest.Rule{Path: "/tokenizer.json", Do: hubtest.Stall(4096)})
	p := programtest.Start(t, "fetch", "--from", "hf://"+h.Repo, "--to", t.TempDir(), "--metrics-listen", "127.0.0.1:0")
	address := p.Expect(t, `"server":"metrics","addr":"([^"]+)"`)[1]
	waittest.Until(t, "progress between start and end", func() bool {
		res, err := waittest.Client().Get("http://" + address + progress.Path)
		if err != nil {
			return false
		}
		defer func() { _ = res.Body.Close() }()
		var s progress.Summary
		return res.StatusCode == http.StatusOK && json.NewDecoder(res.Body).Decode(&s) == nil && s.Valid() &&
			s.Stage == progress.Fetch && s.Bytes > 0 && s.Bytes < s.Total
	})
}
