package s3_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/test/waittest"
)

// raw attacks with requests that no client makes.
func raw(t *testing.T, w *world, thief s3.Config) {
	t.Helper()
	session, err := s3.ParseSession([]byte(thief.Credentials))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ method, target, body string }{
		"EncodedDots":  {http.MethodGet, "/" + models + "/team-a/%2e%2e/" + weights, ""},
		"EncodedSlash": {http.MethodGet, "/" + models + "/team-a%2f..%2f" + weights, ""},
		"OtherBucket":  {http.MethodGet, "/" + models + "/team-a/../../" + models + "/" + weights, ""},
		"TwoPrefixes":  {http.MethodGet, "/" + models + "?list-type=2&prefix=team-a%2F&prefix=team-b%2F", ""},
		"OtherOrder":   {http.MethodGet, "/" + models + "?list-type=2&prefix=team-b%2F&prefix=team-a%2F", ""},
		"Users":        {http.MethodPatch, "/list-users", ""},
		"Buckets":      {http.MethodPatch, "/list-buckets", ""},
		"CreateUser":   {http.MethodPatch, "/create-user", "<Account><Access>thief</Access><Secret>thief</Secret><Role>admin</Role></Account>"},
		"Owner":        {http.MethodPatch, "/change-bucket-owner?bucket=" + models + "&owner=" + session.AccessKeyID, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ask, err := http.NewRequestWithContext(waittest.Context(t), c.method, w.url()+c.target, bytes.NewReader([]byte(c.body)))
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(c.body))
			hash := hex.EncodeToString(sum[:])
			ask.Header.Set("X-Amz-Content-Sha256", hash)
			keys := aws.Credentials{AccessKeyID: session.AccessKeyID, SecretAccessKey: session.SecretAccessKey, SessionToken: session.SessionToken}
			signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
			if err := signer.SignHTTP(t.Context(), keys, ask, hash, "s3", s3.DefaultRegion, time.Now()); err != nil {
				t.Fatal(err)
			}
			answer, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: w.trust(t), DisableKeepAlives: true}}).Do(ask)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			body, _ := io.ReadAll(answer.Body)
			told := strings.Contains(string(body), "SECRET") || strings.Contains(string(body), "<Key>"+weights)
			if told || c.method == http.MethodPatch && answer.StatusCode < http.StatusBadRequest {
				t.Errorf("the server answers %s: %s", answer.Status, body)
			}
		})
	}
}
