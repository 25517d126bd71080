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

// FullClass is the StorageClass of volumes without room.
const FullClass = "full"

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
  storageClassName: %[3]s
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
		manifests = append(manifests, fmt.Sprintf(volume, name, path, "local"))
	}
	return n.Apply(ctx, strings.Join(manifests, "---\n"))
}

// AddFullVolumes adds two volumes of FullClass that say that they have 1 TiB, and have 64 KiB.
func (n *Node) AddFullVolumes(ctx context.Context) error {
	manifests := []string{fmt.Sprintf("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s}\n"+
		"provisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n", FullClass)}
	for i := range 2 {
		name := fmt.Sprintf("full-%d", i)
		path := filepath.Join(n.Dir(), "volumes", name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := run(ctx, "mount", "-t", "tmpfs", "-o", "size=64k,mode=755", name, path); err != nil {
			return err
		}
		manifests = append(manifests, fmt.Sprintf(volume, name, path, FullClass))
	}
	return n.Apply(ctx, strings.Join(manifests, "---\n"))
}
