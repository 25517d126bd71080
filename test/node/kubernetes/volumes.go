package kubernetes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// volumes is the number of volumes. One is used once.
const volumes = 30

// volumeClass is the default StorageClass. Volumes of kind local, unlike those of kind
// hostPath, get the group of the pod.
const volumeClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: local
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`

const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  accessModes: [ReadWriteOnce, ReadWriteMany]
  capacity: {storage: 1Ti}
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local: {path: %[2]s}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [` + Name + `]}]}]}
`

// addVolumes adds volumes that claims of pods can have.
func (n *Node) addVolumes(ctx context.Context) error {
	manifests := []string{volumeClass}
	for i := range volumes {
		name := fmt.Sprintf("local-%d", i)
		path := filepath.Join(n.Dir(), "volumes", name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		manifests = append(manifests, fmt.Sprintf(volume, name, path))
	}
	return n.Apply(ctx, strings.Join(manifests, "---\n"))
}
