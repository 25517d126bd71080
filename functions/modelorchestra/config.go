package modelorchestra

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/names"
)

const (
	configKey  = "config.yaml"
	configPath = "/code/" + configKey
	// checksumAnnotation restarts pods when their configuration changes: a file that is
	// mounted by subPath never changes in a running pod.
	checksumAnnotation = v1.Group + "/config-checksum"

	defaultInternalPort = 3005
	defaultGroup        = "primary"
	defaultModel        = "TitanML/dummy_model"
	deviceCPU           = "cpu"
	deviceCUDA          = "cuda"
)

// A fieldset is an object of a configuration file.
type fieldset = map[string]json.RawMessage

// settings returns the given fields of a configuration under their names in snake case,
// and the further ones. Fields that are no part of the file are left out.
func settings(config any, extra map[string]string) (fieldset, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	var given fieldset
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, err
	}
	out := fieldset{}
	for name, value := range given {
		switch name {
		case "extra", "accessToken", "accessTokenSecretRef":
		default:
			out[snake(name)] = value
		}
	}
	for name, text := range extra {
		value, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("extra.%s: %q is no YAML", name, text)
		}
		out[name] = value
	}
	return out, nil
}

// snake returns a name in camelCase as snake_case.
func snake(name string) string {
	var out []byte
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			out = append(out, '_', c-'A'+'a')
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// configFile returns config.yaml. Numbers keep their digits.
func configFile(server fieldset, readers map[string]fieldset) (string, error) {
	raw, err := json.Marshal(map[string]any{"takeoff": map[string]any{"server_config": server, "readers_config": readers}})
	if err != nil {
		return "", err
	}
	out, err := yaml.JSONToYAML(raw)
	return string(out), err
}

// serverConfig is the file of the gateway.
func serverConfig(c v1.OrchestraServerConfig) (string, error) {
	c.InternalPort = ptr(internalPort(c))
	server, err := settings(c, c.Extra)
	if err != nil {
		return "", err
	}
	return configFile(server, map[string]fieldset{})
}

// readerConfig is the file of an application, whose readers connect to the gateway.
func readerConfig(a application, service string, port int32) (string, error) {
	c := a.ReaderConfig
	c.ModelName = cmp.Or(c.ModelName, defaultModel)
	c.Device = cmp.Or(c.Device, deviceCPU)
	c.ConsumerGroup = cmp.Or(c.ConsumerGroup, defaultGroup)
	if c.BufferRequests == nil {
		c.BufferRequests = ptr(true)
	}
	reader, err := settings(c, c.Extra)
	if err != nil {
		return "", err
	}
	where, err := settings(map[string]string{"internalGatewayIp": service}, nil)
	if err != nil {
		return "", err
	}
	maps.Copy(reader, where)
	server, err := settings(v1.OrchestraServerConfig{InternalPort: &port}, nil)
	if err != nil {
		return "", err
	}
	return configFile(server, map[string]fieldset{a.name: reader})
}

func internalPort(c v1.OrchestraServerConfig) int32 {
	if c.InternalPort != nil {
		return *c.InternalPort
	}
	return defaultInternalPort
}

// configMap holds a configuration file. Its name never changes: the file's checksum in
// the pods' annotations restarts them.
func configMap(namespace, name string, labels map[string]string, file string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Data:       map[string]string{configKey: file},
	}
}

func checksum(file string) string { return names.Hash(64, file) }

func ptr[T any](v T) *T { return &v }
