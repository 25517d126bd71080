package s3

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// An STS is a service with the API AssumeRole, and what it is asked for.
type STS struct {
	Endpoint string // empty: that of the object store, or Amazon's
	RoleARN  string // empty: noRole
	Life     time.Duration
	// Signed makes the credentials without asking anybody, for servers of Koldun: they are
	// signed with the secret key.
	Signed bool
}

// noRole is for MinIO, which ignores it: the API requires the parameter.
const noRole = "arn:aws:iam:::role/koldun"

// Temporary reports whether others get temporary credentials.
func (c Config) Temporary() bool { return c.STS.Life > 0 }

// Rights identifies the credentials that Assume makes for a list of accesses, with the
// same settings.
func (c Config) Rights(policy string) string {
	if c.STS.Signed { // another secret key ends all sessions
		return names.Hash(32, policy, c.Endpoint, c.AccessKey, derived(c.SecretKey, "rights", ""))
	}
	return names.Hash(32, policy, c.Endpoint, c.STS.Endpoint, c.STS.RoleARN, c.AccessKey)
}

// Assume makes temporary credentials that may do what the policy allows, as far as the
// role may do it. name identifies them in the logs of the service. Errors: those of
// Fault.
func (c Config) Assume(ctx context.Context, name, policy string) (Session, error) {
	if c.STS.Signed {
		out, err := SignSession(c.SecretKey, policy, time.Now().Add(c.STS.Life))
		out.Rights = c.Rights(policy)
		return out, err
	}
	region := cmp.Or(c.Region, DefaultRegion)
	loaded, err := credentialsOf(ctx, Config{Region: region, AccessKey: c.AccessKey, SecretKey: c.SecretKey, SessionToken: c.SessionToken})
	if err != nil {
		return Session{}, err
	}
	transport, err := newTransport(c)
	if err != nil {
		return Session{}, err
	}
	defer transport.CloseIdleConnections() // the next call is minutes away
	endpoint := cmp.Or(c.STS.Endpoint, c.Endpoint)
	client := sts.NewFromConfig(loaded, func(o *sts.Options) {
		o.HTTPClient = &http.Client{Transport: transport}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff })
		if endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
		}
	})
	out, err := client.AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn:         aws.String(cmp.Or(c.STS.RoleARN, noRole)),
		RoleSessionName: aws.String(name),
		DurationSeconds: aws.Int32(int32(c.STS.Life / time.Second)),
		Policy:          aws.String(policy),
	})
	if err != nil {
		return Session{}, fmt.Errorf("cannot get temporary credentials from the STS API at %s: %w", cmp.Or(endpoint, "AWS"), Fault(err))
	}
	k := out.Credentials
	if k == nil || aws.ToString(k.AccessKeyId) == "" || aws.ToString(k.SecretAccessKey) == "" || k.Expiration == nil {
		return Session{}, fault.Errorf(fault.Corrupt, "cannot get temporary credentials from the STS API at %s: the answer has none", cmp.Or(endpoint, "AWS"))
	}
	return Session{
		Version: 1, AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey, SessionToken: aws.ToString(k.SessionToken),
		Expiration: *k.Expiration, Rights: c.Rights(policy),
	}, nil
}
