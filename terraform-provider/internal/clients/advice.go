package clients

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

// Advise adds the settings to check to an error of a system that cannot be
// reached or refuses the credentials.
func Advise(s System, err error) error {
	a, ok := map[System]struct{ address, credentials string }{
		NATS: {"nats.url in the provider block, or NATS_URL", "nats.user and nats.password, or another login of nats in the provider block, or NATS_USER, NATS_PASSWORD and so on"},
		NATSOperator: {
			"nats_operator.url in the provider block, or NATS_OPERATOR_URL",
			"nats_operator.system_creds in the provider block, or NATS_OPERATOR_SYSTEM_CREDS",
		},
		S3: {"s3.endpoint in the provider block, or AWS_ENDPOINT_URL_S3", "s3.access_key and s3.secret_key in the provider block, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
	}[s]
	switch {
	case ok && fault.Is(err, fault.Transient):
		return fmt.Errorf("%w; is the server up, and is its address right (%s)?", err, a.address)
	case ok && fault.Is(err, fault.Denied):
		return fmt.Errorf("%w; are the credentials right (%s), and may they do this?", err, a.credentials)
	}
	return err
}
