package platform

import (
	"encoding/json"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore/s3"
)

// Services holds the addresses and credentials of the servers that a platform team
// runs outside its clusters. They are reachable from this machine.
type Services struct {
	NATS bus.Config
	S3   s3.Config
	Hub  string // URL of the hub in place of huggingface.co
}

// credentials is the name of the Secret with all credentials, in namespace.
const credentials, namespace = "services", "koldun-system"

// Manifests returns the manifests that a platform team applies once: the default
// ClusterProviderConfig with its credentials.
func (s Services) Manifests() ([]string, error) {
	type object = map[string]any
	ref := object{"name": credentials, "namespace": namespace}
	var out []string
	for _, m := range []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		{
			"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": credentials, "namespace": namespace},
			"stringData": object{
				"user": s.NATS.User, "password": s.NATS.Password,
				names.EnvS3AccessKey: s.S3.AccessKey, names.EnvS3SecretKey: s.S3.SecretKey,
			},
		},
		{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindClusterProviderConfig, "metadata": object{"name": "default"},
			"spec": object{
				"allowedNamespaces": object{"names": []string{"*"}},
				"nats":              object{"url": s.NATS.URL, "secretRef": ref},
				"s3":                object{"endpoint": s.S3.Endpoint, "region": s.S3.Region, "secretRef": ref},
				"hub":               object{"endpoint": s.Hub, "allowPrivateAddresses": true},
			},
		},
	} {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out = append(out, string(raw))
	}
	return out, nil
}
