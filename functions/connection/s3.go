package connection

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
)

// S3 is the connection to the object store that the owner names, else the
// default one.
func S3(o Owner, field string, s v1.ObjectStorage) (Connection, Problem) {
	if s.ProviderConfigRef != nil {
		ref := *s.ProviderConfigRef
		if ref.Kind == "" {
			ref.Kind = v1alpha1.KindProviderConfig
		}
		return Connection{Ref: &ref}, Problem{}
	}
	if s.Endpoint == "" && s.SecretRef == nil {
		return Connection{}, Problem{}
	}
	out := &v1alpha1.S3Config{Endpoint: strings.TrimSuffix(s.Endpoint, "/"), Region: s.Region}
	if ref := s.SecretRef; ref != nil {
		if ref.Namespace != "" && ref.Namespace != o.Namespace {
			return Connection{}, Problem{reason.ConnectionInvalid, fmt.Sprintf("%s.secretRef: Secret %q is in namespace %q: only those of namespace %q can be used", field, ref.Name, ref.Namespace, o.Namespace)}
		}
		out.SecretRef = &v1alpha1.CredentialsReference{Name: ref.Name}
	}
	return Connection{S3: out}, Problem{}
}

// StoreKeys returns the credentials for the object store that pods have as a file: those
// that the composed Bucket of a name writes into the Secret, if they are temporary.
func StoreKeys(c *compose.Call, res, secret string) workload.StoreKeys {
	var seen struct {
		Status struct {
			AtProvider struct {
				TemporaryCredentials bool `json:"temporaryCredentials"`
			} `json:"atProvider"`
		} `json:"status"`
	}
	if c.Observed(res, &seen); !seen.Status.AtProvider.TemporaryCredentials {
		return workload.StoreKeys{}
	}
	return workload.StoreKeys{Secret: secret}
}
