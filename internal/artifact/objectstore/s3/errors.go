package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/network/linklocal"
)

// codeKinds are the S3 error codes whose HTTP status alone would mislead
// (Amazon S3 API Reference, "Error responses"; the Minio ones are MinIO's).
var codeKinds = map[string]fault.Kind{
	"NoSuchKey":                      fault.NotFound,
	"NoSuchBucket":                   fault.NotFound,
	"NotFound":                       fault.NotFound,
	"NoSuchUpload":                   fault.Conflict,
	"OperationAborted":               fault.Conflict,
	"ConditionalRequestConflict":     fault.Conflict,
	"QuotaExceeded":                  fault.Quota,
	"InsufficientStorage":            fault.Quota,
	"NoSpaceLeftOnDevice":            fault.Quota,
	"XMinioStorageFull":              fault.Quota,
	"XMinioAdminBucketQuotaExceeded": fault.Quota,
	"EntityTooLarge":                 fault.Invalid,
	"BadDigest":                      fault.Transient,
	"IncompleteBody":                 fault.Transient,
	"XAmzContentSHA256Mismatch":      fault.Transient,
	"XAmzContentChecksumMismatch":    fault.Transient,
	"RequestTimeout":                 fault.Transient,
	"SlowDown":                       fault.Transient,
	"ThrottlingException":            fault.Transient,
	"RequestLimitExceeded":           fault.Transient,
	"InternalError":                  fault.Transient,
	"PermanentRedirect":              fault.Invalid,
	"AuthorizationHeaderMalformed":   fault.Invalid, // wrong region
	"ExpiredToken":                   fault.Denied,
	"InvalidToken":                   fault.Denied,
	"TokenRefreshRequired":           fault.Denied,
	"XAdminUserNotFound":             fault.Denied,   // versitygw, for an unknown access key
	"InvalidPart":                    fault.Conflict, // another writer replaced or dropped it
	"InvalidPartOrder":               fault.Conflict,
	"MethodNotAllowed":               fault.Denied, // the answer of read-only gateways
}

// Fault gives an error of the AWS SDK its fault kind and a short text. It
// returns nil and errors that have a kind unchanged.
func Fault(err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	status := 0
	var resp *awshttp.ResponseError
	if errors.As(err, &resp) {
		status = resp.HTTPStatusCode()
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		kind, known := codeKinds[api.ErrorCode()]
		if !known {
			kind = statusKind(status)
		}
		return fault.Errorf(kind, "%w", &apiError{code: api.ErrorCode(), message: api.ErrorMessage(), status: status, err: err})
	}
	var netErr net.Error
	broke := errors.As(err, &netErr) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	switch { // the text of the SDK could repeat the answer of a server that is no object store
	case status != 0 && broke:
		return fault.Errorf(fault.Transient, "the S3 service breaks off its answer (HTTP %d)", status)
	case status != 0:
		return fault.Errorf(statusKind(status), "the server answers HTTP %d as no S3 service does: check the endpoint", status)
	}
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return fault.Errorf(fault.Denied, "the S3 service is not trusted: %w", cert)
	}
	var request *url.Error
	if errors.As(err, &request) { // the SDK's text around it counts attempts
		if u, parseErr := url.Parse(request.URL); parseErr == nil {
			var local linklocal.Error
			if errors.As(err, &local) {
				return fault.Errorf(fault.Invalid, "cannot use the S3 service at %s: %w", u.Host, local)
			}
			return fault.Errorf(fault.Transient, "cannot reach the S3 service at %s: %w", u.Host, unquoted(request.Err))
		}
	}
	if broke || errors.Is(err, context.DeadlineExceeded) {
		return fault.As(fault.Transient, err)
	}
	var signing interface{ ProviderName() string }
	if errors.As(err, &signing) {
		return fault.As(fault.Denied, err)
	}
	return err
}

func statusKind(status int) fault.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusMethodNotAllowed:
		return fault.Denied
	case status == http.StatusNotFound:
		return fault.NotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return fault.Conflict
	case status == http.StatusInsufficientStorage:
		return fault.Quota
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return fault.Transient
	case status >= 500:
		return fault.Transient
	case status >= 300:
		return fault.Invalid
	}
	return fault.Internal
}

// unquoted returns an error of the network without what the other side has sent: who names an
// endpoint could read servers that only we reach.
func unquoted(err error) error {
	if strings.Contains(err.Error(), "malformed HTTP") {
		return errNotHTTP
	}
	return err
}

var errNotHTTP = errors.New("it does not answer as a server of HTTP does")

// shown returns a code of an error as services write it, and nothing else that a server may
// have sent in its place.
func shown(code string) string {
	const most = 64
	word := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	if code == "" || len(code) > most || strings.ContainsFunc(code, func(r rune) bool { return !word(r) }) {
		return "an unknown error"
	}
	return code
}

// An apiError shortens the SDK's text, which repeats operation and request ids, and leaves
// out the message: the server may be another than an object store, and its text a secret.
type apiError struct {
	code, message string
	status        int
	err           error
}

func (e *apiError) Error() string {
	return fmt.Sprintf("the S3 service answers %s (HTTP %d)", shown(e.code), e.status) + e.advice()
}

// advice says what an error means, or names the setting that may mend it: services say in many
// ways that they do not know headers of checksums, or that they serve no bucket by its path.
func (e *apiError) advice() string {
	said := strings.ToLower(e.code + " " + e.message)
	switch {
	case e.status == http.StatusInsufficientStorage:
		return ": no space is left on its disk"
	case e.code == "InvalidAccessKeyId", e.code == "XAdminUserNotFound", e.code == "SignatureDoesNotMatch":
		return ": check the access key and its secret"
	case strings.Contains(said, "checksum") && !strings.Contains(said, "mismatch"), strings.Contains(said, "crc32"),
		e.code == "InvalidArgument", e.code == "NotImplemented", e.code == "AwsChunkedEncodingNotSupported":
		return "; if it refuses the checksums of parts, set checksums: whenRequired or " + names.EnvS3Checksums + "=" + checksumsWhenRequired
	case strings.Contains(said, "virtual"), strings.Contains(said, "path style"), strings.Contains(said, "path-style"),
		e.code == "SecondLevelDomainForbidden", e.code == "PermanentRedirect":
		return "; if it serves a bucket only at https://BUCKET.HOST, set addressing: virtual or " + names.EnvS3Addressing + "=" + AddressVirtual
	}
	return ""
}

func (e *apiError) Unwrap() error { return e.err }

func (s *store) errorf(ctx context.Context, verb, name string, err error) error {
	if ctx.Err() != nil { // the SDK does not wrap the cause
		return fmt.Errorf("cannot %s object %q: %w", verb, s.URL()+"/"+name, context.Cause(ctx))
	}
	if hasCode(err, "NoSuchBucket") { // the bucket is missing, not the object
		return fault.Errorf(fault.NotFound, "cannot use bucket %q: it does not exist (NoSuchBucket): create it, or correct the bucket's name or the endpoint", s.bucket)
	}
	return fmt.Errorf("cannot %s object %q%s: %w", verb, s.URL()+"/"+name, s.at(err), Fault(err))
}

// at names the service that answered with an error. Other errors name it in their
// own text.
func (s *store) at(err error) string {
	var api smithy.APIError
	if e := aws.ToString(s.client.Options().BaseEndpoint); e != "" && errors.As(err, &api) {
		return " at " + e
	}
	return ""
}

// absent reports whether an object does not exist for which a request was refused. A
// service that may not tell so, because the credentials cannot list all objects of the
// bucket, refuses requests for absent objects.
func (s *store) absent(ctx context.Context, name string, err error) bool {
	if !fault.Is(Fault(err), fault.Denied) {
		return false
	}
	out, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(name), MaxKeys: aws.Int32(1)})
	return err == nil && (len(out.Contents) == 0 || aws.ToString(out.Contents[0].Key) != *s.key(name))
}

func hasCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}
