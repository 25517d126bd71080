package argocd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

const (
	// example is the folder of the example in the repository, and overlay the folder of
	// the Git repository that adapts it to the cluster.
	example = "examples/argocd"
	overlay = "cluster"

	appName   = "koldun" // the Application's name in the example
	namespace = "models" // of the example's claims

	// The Secret of the operator of NATS is where the platform keeps its own.
	system, natsOperator = "crossplane-system", "nats-operator"
)

type fields = map[string]any

// An adaptation is what a cluster needs otherwise than the example has it.
type adaptation struct {
	install  string // manifests of Koldun's packages; empty without wave -2
	services platform.Services
}

// example copies the Kustomizations of the example into a Git repository, and writes one
// that adapts them.
func (a *ArgoCD) example(r *Repository, s adaptation) error {
	if err := os.CopyFS(filepath.Join(r.Dir, "app"), os.DirFS(filepath.Join(a.root, example, "app"))); err != nil {
		return fmt.Errorf("cannot copy example: %w", err)
	}
	if s.install != "" {
		if err := r.Write("app/packages/install.yaml", s.install); err != nil {
			return err
		}
	}
	return writeKustomization(r, overlay, s.kustomization())
}

// kustomization patches the example: addresses of this cluster, and a model of the size of
// a test.
func (s adaptation) kustomization() fields {
	resources := []string{"../app/connection", "../app/models", "../app/serving"}
	if s.install != "" {
		resources = []string{"../app"}
	}
	patches := []fields{
		change("koldun.gorizond.io", "v1", "Model", "tinyllama", fields{"sourceUrl": source("koldun-tiny"), "conversion": fields{"weightsFloatType": "q40"}}),
		change("koldun.gorizond.io", "v1", "Dllama", "tinyllama", fields{"rootImage": nil, "replicaPower": 0}),
	}
	// A request while no Dllama runs starts a pool, which keeps its Model while it runs, and
	// is deleted with the Ingress, a wave after the Model. It ends by itself when it is idle.
	// NATS is that of the ClusterProviderConfig, which is in operator mode.
	gateway := fields{"allowAnonymous": true, "sessionScaling": fields{"scaleDownIdleSeconds": 5}, "nats": nil}
	if s.services.NATS.URL == "" { // then the cluster has a ClusterProviderConfig
		patches = append(patches, remove("koldun.m.gorizond.io", "v1alpha1", "ClusterProviderConfig", "default"))
	} else {
		patches = append(patches, change("koldun.m.gorizond.io", "v1alpha1", "ClusterProviderConfig", "default", connection(s.services)))
	}
	patches = append(patches, change("koldun.gorizond.io", "v1", "Ingress", "public", fields{"backend": gateway}))
	return fields{"resources": resources, "patches": patches}
}

// connection is the spec of the ClusterProviderConfig. In place of the example's login for NATS it
// names the Secret of an operator, so that each process has the rights of its role only.
func connection(s platform.Services) fields {
	operator := fields{"secretRef": fields{"namespace": system, "name": natsOperator}}
	spec := fields{"nats": fields{"url": s.NATS.URL, "secretRef": nil, "operator": operator}, "s3": fields{"endpoint": s.S3.Endpoint, "region": s.S3.Region}}
	if s.Hub != "" {
		spec["hub"] = fields{"endpoint": s.Hub}
	}
	return spec
}

// secrets are the manifests of the Secrets that exist before the Application: that of the
// operator, and the one for the object store that the example's README creates.
func secrets(s platform.Services) ([]string, error) {
	var out []string
	for _, secret := range []fields{
		{"metadata": fields{"name": natsOperator, "namespace": system}, "data": s.Operator},
		{"metadata": fields{"name": "s3-credentials", "namespace": namespace}, "stringData": fields{names.EnvS3AccessKey: s.S3.AccessKey, names.EnvS3SecretKey: s.S3.SecretKey}},
	} {
		secret["apiVersion"], secret["kind"] = "v1", "Secret"
		raw, err := json.Marshal(secret)
		if err != nil {
			return nil, err
		}
		out = append(out, string(raw))
	}
	return out, nil
}

// application is the Application of the example for a Git repository.
func (a *ArgoCD) application(r *Repository) (string, error) {
	raw, err := os.ReadFile(filepath.Join(a.root, example, "application.yaml"))
	if err != nil {
		return "", fmt.Errorf("cannot read example: %w", err)
	}
	objects, err := cluster.Decode(string(raw))
	if err != nil {
		return "", err
	}
	if len(objects) != 1 || objects[0].GetName() != appName {
		return "", fmt.Errorf("%s/application.yaml is not the one Application %q", example, appName)
	}
	source, ok := objects[0].Object["spec"].(fields)["source"].(fields)
	if !ok {
		return "", fmt.Errorf("the Application %q has no source", appName)
	}
	source["repoURL"], source["targetRevision"], source["path"] = r.URL(), branch, overlay
	out, err := json.Marshal(objects[0])
	return string(out), err
}

// change is a patch of kustomize for the spec of an object.
func change(group, version, kind, name string, spec fields) fields {
	return patch(group, version, kind, name, fields{"spec": spec})
}

// remove is a patch of kustomize that leaves an object out.
func remove(group, version, kind, name string) fields {
	return patch(group, version, kind, name, fields{"$patch": "delete"})
}

func patch(group, version, kind, name string, content fields) fields {
	content["apiVersion"], content["kind"], content["metadata"] = group+"/"+version, kind, fields{"name": name}
	raw, _ := json.Marshal(content) //nolint:errchkjson // texts, numbers and nulls
	return fields{"target": fields{"group": group, "version": version, "kind": kind, "name": name}, "patch": string(raw)}
}

// writeKustomization writes a Kustomization, as JSON, which is YAML.
func writeKustomization(r *Repository, folder string, content fields) error {
	content["apiVersion"], content["kind"] = "kustomize.config.k8s.io/v1beta1", "Kustomization"
	raw, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return r.Write(folder+"/kustomization.yaml", string(raw)+"\n")
}

// source is the URL of a model's repository.
func source(name string) string { return "https://huggingface.co/gorizond/" + name }
