package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// installed is the namespace that everything brings to Crossplane and to Koldun's packages.
const installed = "crossplane-system"

// everything writes what the chart installs with servers and Crossplane, for those who use
// no Helm: first the CRDs, and then the rest, which has objects of these.
func (b *build) everything(ctx context.Context, helm string) error {
	chart := filepath.Join(b.out, files, b.chartFile())
	text, err := render(ctx, helm, chart, "--set", "nats.install=true,s3.install=true,keep=false")
	if err != nil {
		return fmt.Errorf("cannot write manifests of everything: %w", err)
	}
	crds := "# The CRDs that koldun.yaml needs. Apply them first.\n"
	rest := "# Installs Crossplane, Koldun, NATS and an object store, into a cluster that has none of them:\n" +
		"#   kubectl apply --server-side -f koldun-crds.yaml\n" +
		"#   kubectl apply --server-side -f koldun.yaml\n" +
		"---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + installed + "\n"
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return fmt.Errorf("cannot read what the chart renders: %w", err)
		}
		document = "---\n" + strings.TrimSpace(withoutSource(document)) + "\n"
		switch object.Kind {
		case "":
		case "CustomResourceDefinition":
			crds += document
		default:
			rest += document
		}
	}
	if err := b.write(files, "koldun-crds.yaml", []byte(crds)); err != nil {
		return err
	}
	return b.write(files, "koldun.yaml", []byte(rest))
}

// render returns the objects of a chart, as Helm installs them into an empty cluster. Helm
// reads nothing of the user who runs it.
func render(ctx context.Context, helm, chart string, args ...string) (string, error) {
	home, err := os.MkdirTemp("", "koldun-helm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(home) //nolint:errcheck // a temporary folder
	cmd := exec.CommandContext(ctx, helm, append([]string{"template", "koldun", chart, "--namespace", installed, "--include-crds"}, args...)...)
	cmd.Env = []string{"HOME=" + home, "KUBECONFIG=/dev/null"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cannot render %q: %w: %s", chart, err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// withoutSource returns a document without the line that names its template.
func withoutSource(document string) string {
	var out strings.Builder
	for line := range strings.Lines(document) {
		if !strings.HasPrefix(line, "# Source: ") {
			out.WriteString(line)
		}
	}
	return out.String()
}
