package connpool

import (
	"net/url"
	"strings"
	"time"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// defaultSTSLife is the life of temporary credentials. AWS allows no more to a role that
// another role assumes.
const defaultSTSLife = time.Hour

// sts returns how temporary credentials for pods are made; the zero value if there are
// none. The provider signs them itself for a server whose Secret says so: that of the chart
// has no STS API. Errors: Invalid.
func (c Config) sts(secret credentials) (s3.STS, error) {
	described := c.Spec.S3.STS
	if described == nil {
		return s3.STS{}, nil
	}
	if c.Spec.S3.SecretRef == nil && c.Kind != v1alpha1.KindClusterProviderConfig {
		return s3.STS{}, fault.Errorf(fault.Invalid, "%s: spec.s3.sts makes credentials from those of spec.s3.secretRef: add it", c)
	}
	out := s3.STS{Endpoint: strings.TrimSuffix(described.Endpoint, "/"), RoleARN: described.RoleARN, Life: defaultSTSLife}
	if described.Lifetime != nil {
		out.Life = described.Lifetime.Duration
	}
	out.Signed = out.Endpoint == "" && out.RoleARN == "" && c.Spec.S3.Endpoint != "" && secret.first(bootstrap.Sessions) == bootstrap.Signed
	if !isHTTP(out.Endpoint) {
		return s3.STS{}, fault.Errorf(fault.Invalid, "%s: spec.s3.sts.endpoint is not http[s]://HOST[:PORT]", c)
	}
	if out.RoleARN == "" && out.Endpoint == "" && c.Spec.S3.Endpoint == "" {
		return s3.STS{}, fault.Errorf(fault.Invalid, "%s: spec.s3.sts.roleARN is missing: AWS makes credentials for a role only", c)
	}
	return out, nil
}

// namespaceFolder is the folder of a namespace unless the platform team chooses another.
const namespaceFolder = "{namespace}"

// bound returns the folders that a namespace may use, nil for all: those of a ProviderConfig,
// which no other namespace uses, or without temporary credentials, which could be limited.
// A resource of the cluster is the platform's.
func (c Config) bound(namespace string) *s3.Bound {
	described := c.Spec.S3.STS
	if described == nil || namespace == "" {
		return nil
	}
	folder := described.NamespaceFolder
	if folder == "" && c.Kind == v1alpha1.KindClusterProviderConfig {
		folder = namespaceFolder
	}
	if folder == "" || folder == "/" {
		return nil
	}
	return &s3.Bound{Folder: strings.ReplaceAll(folder, "{namespace}", namespace), Shared: described.SharedFolders}
}

// isHTTP reports whether an endpoint is empty, or a URL without credentials.
func isHTTP(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return endpoint == "" || err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
}
