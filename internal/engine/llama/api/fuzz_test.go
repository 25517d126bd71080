package api_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/engine/llama/api"
	"github.com/gorizond/koldun/internal/openai"
)

// FuzzComplete sends any body: it is answered or refused, in proper form.
func FuzzComplete(f *testing.F) {
	for _, body := range []string{
		hello, with(`"stream":true`), with(`"max_tokens":-1,"model":null`), with(`"max_tokens":1e999`), with("\"model\":\"\xff\",\"model\":\"\""),
		"null", "{}", `{"messages":[{}]}`, `{"model":{"a":[1,{"b":null}]},"max_completion_tokens":0}`, "[",
	} {
		f.Add([]byte(body))
	}
	h := api.New(says(llama.FinishStop, "x"), api.Options{Model: "m", Logger: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body)))
		switch w.Code {
		case http.StatusOK:
			if b := w.Body.Bytes(); !json.Valid(b) && !bytes.HasSuffix(b, []byte("data: [DONE]\n\n")) {
				t.Errorf("answer is %s", b)
			}
		case http.StatusBadRequest:
			var e openai.Error
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Message == "" {
				t.Errorf("error is %s (%v)", w.Body, err)
			}
		default:
			t.Errorf("status is %d", w.Code)
		}
	})
}
