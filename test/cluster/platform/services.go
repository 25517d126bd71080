package platform

import (
	"encoding/json"
	"slices"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Services holds the addresses and credentials of the servers that a platform team
// runs outside its clusters. They are reachable from this machine.
type Services struct {
	NATS bus.Config
	// Operator is the content of the Secret with the keys of servers in operator mode, on which
	// each namespace has an account. Otherwise the login of NATS is for all namespaces.
	Operator map[string][]byte
	S3       s3.Config
	Hub      string // URL of the hub in place of huggingface.co
}

// credentials and operator are the names of the Secrets, in namespace.
const credentials, operator, namespace = "services", "nats-operator", "koldun-system"

// Manifests returns the manifests that a platform team applies once: the default
// ClusterProviderConfig with its Secrets.
func (s Services) Manifests() ([]string, error) {
	type object = map[string]any
	ref := object{"name": credentials, "namespace": namespace}
	nats := object{"url": s.NATS.URL, "secretRef": ref}
	if s.Operator != nil {
		nats = object{"url": s.NATS.URL, "operator": object{"secretRef": object{"name": operator, "namespace": namespace}}}
	}
	manifests := []object{
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
				"sharedLogin":       true,
				"nats":              nats,
				"s3":                object{"endpoint": s.S3.Endpoint, "region": s.S3.Region, "secretRef": ref},
				"hub":               object{"endpoint": s.Hub, "allowPrivateAddresses": true},
			},
		},
	}
	if s.Operator != nil {
		manifests = slices.Insert(manifests, 1, object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": operator, "namespace": namespace}, "data": s.Operator})
	}
	var out []string
	for _, m := range manifests {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out = append(out, string(raw))
	}
	return out, nil
}
