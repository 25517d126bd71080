package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// sink speaks as much of S3 as one fetch needs and forgets the bytes of parts:
// what a process takes for itself can be measured with it at sizes for which
// no disk here has room.
type sink struct {
	mu      sync.Mutex
	objects map[string][]byte
	token   string // of the upload
	parts   int64  // bytes of all parts
	whole   string // key of the completed upload
}

func newSink(t *testing.T) s3.Config {
	t.Helper()
	s := &sink{objects: map[string][]byte{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s3.Config{Endpoint: srv.URL, AccessKey: "a", SecretKey: "b"}
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("partNumber") {
		n, _ := io.Copy(io.Discard, r.Body)
		s.mu.Lock()
		s.parts += n
		s.mu.Unlock()
		w.Header().Set("ETag", `"part"`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		s.token = r.Header.Get("X-Amz-Meta-Koldun-Token")
		_, _ = io.WriteString(w, `<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
	case r.Method == http.MethodPost:
		s.whole = r.URL.Path
		_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodPut:
		s.objects[r.URL.Path] = body
		w.Header().Set("ETag", `"small"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case query.Has("uploads"):
		_, _ = io.WriteString(w, `<ListMultipartUploadsResult></ListMultipartUploadsResult>`)
	case query.Has("list-type"):
		s.list(w, strings.TrimSuffix(r.URL.Path, "/")+"/"+query.Get("prefix"))
	default:
		s.get(w, r.URL.Path)
	}
}

func (s *sink) list(w io.Writer, prefix string) {
	_, _ = io.WriteString(w, `<ListBucketResult>`)
	for key, body := range s.objects {
		if strings.HasPrefix(key, prefix) {
			_, _ = fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size></Contents>`, strings.SplitN(key, "/", 3)[2], len(body))
		}
	}
	_, _ = io.WriteString(w, `</ListBucketResult>`)
}

func (s *sink) get(w http.ResponseWriter, key string) {
	body, ok := s.objects[key]
	switch {
	case key == s.whole:
		w.Header().Set("Content-Length", strconv.FormatInt(s.parts, 10))
		w.Header().Set("X-Amz-Meta-Koldun-Token", s.token)
		w.Header().Set("ETag", `"whole"`)
	case ok:
		w.Header().Set("ETag", `"small"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	}
}
