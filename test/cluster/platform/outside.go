package platform

import (
	"encoding/json"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore/s3"
)

// Outside is where the servers are that a platform team has: reachable from
// this machine.
type Outside struct {
	NATS bus.Config
	S3   s3.Config
	Hub  string // URL of what stands for huggingface.co
}

// credentials is the Secret of the connection, and its namespace.
const credentials, namespace = "outside", "koldun-system"

// Manifests are what a platform team applies once: the connection that all
// claims use that name no other.
func (o Outside) Manifests() ([]string, error) {
	type object = map[string]any
	ref := object{"name": credentials, "namespace": namespace}
	var out []string
	for _, m := range []object{
		{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		{
			"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": credentials, "namespace": namespace},
			"stringData": object{
				"user": o.NATS.User, "password": o.NATS.Password,
				names.EnvS3AccessKey: o.S3.AccessKey, names.EnvS3SecretKey: o.S3.SecretKey,
			},
		},
		{
			"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindClusterProviderConfig, "metadata": object{"name": "default"},
			"spec": object{
				"nats": object{"url": o.NATS.URL, "secretRef": ref},
				"s3":   object{"endpoint": o.S3.Endpoint, "region": o.S3.Region, "secretRef": ref},
				"hub":  object{"endpoint": o.Hub},
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
