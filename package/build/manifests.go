package main

import (
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// manifests writes what users apply.
func (b *build) manifests() error {
	paths, err := filepath.Glob("package/*.yaml")
	if err != nil {
		return err
	}
	monitoring, err := filepath.Glob("package/monitoring/*.yaml")
	if err != nil {
		return err
	}
	out := map[string]string{"argocd-install.yaml": "examples/argocd/app/packages/install.yaml"}
	for _, path := range append(paths, monitoring...) {
		out[filepath.Base(path)] = path
	}
	for _, name := range sorted(out) {
		text, err := b.pinned(out[name])
		if err != nil {
			return err
		}
		if err := b.write(files, name, text); err != nil {
			return err
		}
	}
	for _, name := range []string{"nats", "s3"} {
		if err := b.manifestOfServers(name); err != nil {
			return err
		}
	}
	return b.manifestOfClaims()
}

// manifestOfClaims writes install.yaml for the Configuration with claims.
func (b *build) manifestOfClaims() error {
	install, err := os.ReadFile("package/install.yaml")
	if err != nil {
		return err
	}
	rights, err := os.ReadFile("package/rbac-claims.yaml")
	if err != nil {
		return err
	}
	const configuration = ghcr + "koldun-configuration:" + unreleased
	text := strings.ReplaceAll(string(install), configuration, ghcr+"koldun-configuration-claims:"+unreleased)
	return b.write(files, "install-claims.yaml", []byte(b.pin(text+"---\n"+string(rights))))
}

// manifestOfServers joins the files of a folder, such as package/nats for nats.yaml.
func (b *build) manifestOfServers(name string) error {
	folder := filepath.Join("package", name)
	raw, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		return err
	}
	var list struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(raw, &list); err != nil {
		return err
	}
	var out strings.Builder
	for _, file := range list.Resources {
		text, err := b.pinned(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		out.WriteString("---\n" + strings.TrimSpace(string(text)) + "\n")
	}
	return b.write(files, name+".yaml", []byte(out.String()))
}
