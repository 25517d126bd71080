package local

import (
	"encoding/base64"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// secrets holds the decoded data of Secrets and ConfigMaps, in memory only. It is
// safe for concurrent use.
type secrets struct {
	mu   sync.Mutex
	data map[Key]Secret
}

// A Secret is a known Secret. It is immutable.
type Secret struct {
	Name                string
	Labels, Annotations map[string]string
	Data                map[string][]byte
}

func newSecrets() *secrets { return &secrets{data: map[Key]Secret{}} }

func (s *secrets) get(kind, namespace, name string) (map[string][]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, ok := s.data[Key{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}]
	return secret.Data, ok
}

// in returns all Secrets of a namespace, in no order.
func (s *secrets) in(namespace string) []Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Secret
	for k, secret := range s.data {
		if k.Kind == "Secret" && k.Namespace == namespace {
			out = append(out, secret)
		}
	}
	return out
}

func (s *secrets) set(o Object, data map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	annotations, _ := at(o, "metadata", "annotations")
	k := o.Key()
	s.data[k] = Secret{Name: k.Name, Labels: o.labels(), Annotations: stringMap(annotations), Data: data}
}

func (s *secrets) remove(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.data, k)
}

// Secret returns the data of a Secret, and whether it exists. A Managed uses it.
// The data is immutable. It is safe for concurrent use.
func (l *Local) Secret(namespace, name string) (map[string][]byte, bool) {
	return l.secrets.get("Secret", namespace, name)
}

// Secrets returns all Secrets of a namespace, in no order. It is safe for
// concurrent use.
func (l *Local) Secrets(namespace string) []Secret {
	return l.secrets.in(namespace)
}

// secretData decodes the data of a Secret or ConfigMap.
func secretData(o Object) (map[string][]byte, error) {
	var fields struct {
		Data       map[string]string `json:"data"`
		StringData map[string]string `json:"stringData"`
		BinaryData map[string]string `json:"binaryData"`
	}
	if err := o.Decode(&fields); err != nil {
		return nil, fault.As(fault.Invalid, err)
	}
	plain, encoded := fields.StringData, fields.Data
	if o.Key().Kind == "ConfigMap" {
		plain, encoded = fields.Data, fields.BinaryData
	}
	out := map[string][]byte{}
	for key, value := range encoded {
		raw, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "the value of key %q is not base64", key)
		}
		out[key] = raw
	}
	for key, value := range plain {
		out[key] = []byte(value)
	}
	return out, nil
}

// secretObject returns a Secret with a connection.
func secretObject(k Key, data map[string][]byte) (Object, error) {
	return NewObject(map[string]any{
		"apiVersion": k.APIVersion,
		"kind":       k.Kind,
		"metadata":   map[string]any{"namespace": k.Namespace, "name": k.Name},
		"data":       data, // encoding/json writes bytes as base64
	})
}
