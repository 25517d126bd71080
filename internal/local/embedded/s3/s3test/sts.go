package s3test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	s3store "github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/local/embedded/s3"
)

// An STS is a service with the API AssumeRole (AWS Security Token Service API Reference)
// for the gateways of this package.
type STS struct {
	Endpoint string
	calls    atomic.Int64
}

// StartSTS runs an STS until the test ends.
func StartSTS(t testing.TB) *STS {
	t.Helper()
	s := &STS{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Endpoint = server.URL
	return s
}

// Calls counts the credentials that were made.
func (s *STS) Calls() int { return int(s.calls.Load()) }

func (s *STS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	if err != nil {
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("Action") != "AssumeRole" {
		refuse(w, http.StatusBadRequest, "InvalidAction")
		return
	}
	if !signed(r, body) {
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	seconds, err := strconv.Atoi(form.Get("DurationSeconds"))
	if err != nil || seconds < 1 || form.Get("RoleSessionName") == "" || form.Get("RoleArn") == "" || len(form.Get("Policy")) > 2048 {
		refuse(w, http.StatusBadRequest, "ValidationError")
		return
	}
	session, err := s3store.SignSession(SecretKey, form.Get("Policy"), time.Now().Add(time.Duration(seconds)*time.Second))
	if err != nil {
		refuse(w, http.StatusInternalServerError, "InternalFailure")
		return
	}
	s.calls.Add(1)
	answer := assumed{}
	answer.Result.Credentials = temporary{session.AccessKeyID, session.SecretAccessKey, session.SessionToken, session.Expiration.UTC().Format(time.RFC3339)}
	w.Header().Set("Content-Type", "text/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

type (
	assumed struct {
		XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ AssumeRoleResponse"`
		Result  struct {
			Credentials temporary
		} `xml:"AssumeRoleResult"`
	}
	temporary struct{ AccessKeyId, SecretAccessKey, SessionToken, Expiration string }
	refused   struct {
		XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
		Error   struct{ Type, Code, Message string }
	}
)

func refuse(w http.ResponseWriter, status int, code string) {
	answer := refused{}
	answer.Error.Type, answer.Error.Code, answer.Error.Message = "Sender", code, http.StatusText(status)
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(answer)
}

// signed reports whether a request has the signature that the account of the gateways
// gives it (AWS Signature Version 4).
func signed(r *http.Request, body []byte) bool {
	given := r.Header.Get("Authorization")
	_, rest, _ := strings.Cut(given, "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return false
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return false
	}
	again.ContentLength = r.ContentLength
	for _, name := range slices.DeleteFunc(strings.Split(names, ";"), func(n string) bool { return n == "host" || n == "content-length" }) {
		again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
	}
	sum := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(r.Context(), aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}, again, hex.EncodeToString(sum[:]), "sts", s3.Region, at)
	return err == nil && again.Header.Get("Authorization") == given
}
