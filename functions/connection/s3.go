package connection

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/reason"
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
