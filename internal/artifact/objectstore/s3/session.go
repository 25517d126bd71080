package s3

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/gorizond/koldun/internal/fault"
)

// A Session is temporary credentials. Its JSON is that of the AWS tools'
// credential_process.
type Session struct {
	Version         int    // 1
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      time.Time
	// Rights identifies what the credentials may do, and who made them. The AWS tools
	// ignore it.
	Rights string `json:",omitempty"`
}

// ParseSession reads the JSON of a Session. Errors: Invalid.
func ParseSession(text []byte) (Session, error) {
	var s Session
	err := json.Unmarshal(text, &s)
	switch {
	case err != nil:
		return Session{}, fault.Errorf(fault.Invalid, "they are not the JSON of temporary credentials") // the cause may quote them
	case s.Version != 1 || s.AccessKeyID == "" || s.SecretAccessKey == "" || s.Expiration.IsZero():
		return Session{}, fault.Errorf(fault.Invalid, "they have no Version 1, AccessKeyId, SecretAccessKey or Expiration")
	}
	return s, nil
}

// readAgain is how long a file with credentials is not read again.
const readAgain = 2 * time.Second

// A sessionFile is the path of a file with a Session, or its JSON.
type sessionFile string

// Retrieve returns the credentials, which the SDK asks for again after readAgain.
// Errors: Invalid, Denied.
func (f sessionFile) Retrieve(context.Context) (aws.Credentials, error) {
	text, source := []byte(f), "the environment"
	if !strings.HasPrefix(string(f), "{") {
		var err error
		if text, err = os.ReadFile(string(f)); err != nil {
			return aws.Credentials{}, fault.Errorf(fault.Invalid, "cannot read S3 credentials: %w", err)
		}
		source = string(f)
	}
	s, err := ParseSession(text)
	if err != nil {
		return aws.Credentials{}, fault.Errorf(fault.Invalid, "cannot use the S3 credentials of %s: %w", source, err)
	}
	now := time.Now()
	if !now.Before(s.Expiration) {
		return aws.Credentials{}, fault.Errorf(fault.Denied, "cannot use the S3 credentials of %s: they ended at %s, and nothing has renewed them", source, s.Expiration.Format(time.RFC3339))
	}
	until := s.Expiration
	if again := now.Add(readAgain); again.Before(until) {
		until = again
	}
	return aws.Credentials{
		AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, SessionToken: s.SessionToken,
		CanExpire: true, Expires: until, Source: "koldun",
	}, nil
}
