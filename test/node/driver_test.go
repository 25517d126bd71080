package node_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// addDriver runs the CSI driver, with the Secret for its mounts, until the test ends.
func (i *installer) addDriver(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile("testdata/csi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kubelet := "/var/lib/kubelet"
	if i.node != nil {
		kubelet = i.node.KubeletDir()
	}
	driver := strings.NewReplacer("REGISTRY", i.registry, "KUBELET", kubelet).Replace(string(raw))
	if err := i.Apply(t.Context(), driver, i.mountSecret(t)); err != nil {
		t.Fatal(err)
	}
	i.pods.ready(t, "kube-system", "app=csi", 1)
	tell("A CSI driver runs on each node")
}

// mountSecret returns the Secret of the driver with the credentials of the object store.
func (i *installer) mountSecret(t *testing.T) string {
	t.Helper()
	value := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(i.Kubectl(t, "get", "secret", "s3-credentials", "--namespace=s3", "--output=jsonpath={.data."+key+"}"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "csi-s3-secret", "namespace": "kube-system"},
		"stringData": map[string]string{
			"endpoint": "https://s3.s3.svc:7070", "accessKeyID": value("AWS_ACCESS_KEY_ID"), "secretAccessKey": value("AWS_SECRET_ACCESS_KEY"), "ca": value(`ca\.crt`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(secret)
}
