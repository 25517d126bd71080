package s3_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
)

// TestTextsOfOtherServersStayOut names servers that are no object stores as one. Errors, which
// conditions show to the author, hold nothing of their answers.
func TestTextsOfOtherServersStayOut(t *testing.T) {
	const secret = "hunter2"
	answers := func(status int, contentType, body string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for name, endpoint := range map[string]string{
		"Message": answers(400, "application/xml", "<Error><Code>AccessDenied</Code><Message>db password "+secret+"</Message></Error>"),
		"Code":    answers(400, "application/xml", "<Error><Code>db password "+secret+"</Code></Error>"),
		"Element": answers(404, "application/xml", "<"+secret+">x</"+secret+">"),
		"Page":    answers(404, "text/html", "<html><body>"+secret+"</body></html>"),
		"Listing": answers(200, "application/xml", "<"+secret+">x</"+secret+">"),
		"Broken":  answers(200, "application/xml", "<a>"+secret),
		"Banner":  banner(t, "220 "+secret+" ESMTP\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := s3.NewClient(t.Context(), s3.Config{Endpoint: endpoint, Anonymous: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: new("bucket")})
			if err == nil && name != "Listing" {
				t.Error("the listing succeeds")
			}
			if err = s3.Fault(err); err != nil && strings.Contains(err.Error(), secret) {
				t.Error(err)
			}
		})
	}
}

// banner greets all that connect, and hangs up.
func banner(t *testing.T, text string) (url string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write([]byte(text))
			_, _ = c.Read(make([]byte, 4096))
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}
