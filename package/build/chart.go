package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// chartFolder is the Helm chart, which has the name of the program.
const chartFolder = "package/chart"

// crossplaneChart is the folder of Crossplane's chart in its Go module.
const crossplaneChart = "cluster/charts/crossplane"

// partsOfChart are the files that the chart takes from other folders, by their places in it.
func partsOfChart() map[string]string {
	return map[string]string{
		"files/monitoring/podmonitor.yaml":          "package/monitoring/podmonitor.yaml",
		"files/monitoring/podmonitor-provider.yaml": "package/monitoring/podmonitor-provider.yaml",
		"files/monitoring/rules.yaml":               "package/monitoring/rules.yaml",
		"files/monitoring/dashboards":               "package/monitoring/dashboards",
		"files/nats":                                "package/nats",
		"files/nats-connection.yaml":                "examples/nats/clusterproviderconfig.yaml",
		"files/s3":                                  "package/s3",
		"files/s3-connection.yaml":                  "examples/s3/clusterproviderconfig.yaml",
		"crds/clusterproviderconfigs.yaml":          "apis/crds/koldun.m.gorizond.io_clusterproviderconfigs.yaml",
	}
}

// chart writes the archive of the Helm chart as helm package does, with the version and
// the digests of the build, but the same bytes each time.
func (b *build) chart(ctx context.Context) error {
	archive, err := b.chartArchive(ctx, true)
	if err != nil {
		return fmt.Errorf("cannot build the chart: %w", err)
	}
	return b.write(files, b.chartFile(), archive)
}

// chartFile is the name of the chart's archive, as helm package has it.
func (b *build) chartFile() string { return "koldun-" + b.number() + ".tgz" }

// chartArchive returns the chart. Without Crossplane it can only be installed where that
// is.
func (b *build) chartArchive(ctx context.Context, crossplane bool) ([]byte, error) {
	content := map[string][]byte{}
	read := func(from, to string) error {
		return walk(from, to, func(path, name string) (err error) {
			content["koldun/"+name], err = b.pinned(path)
			return err
		})
	}
	err := read(chartFolder, "")
	for to, from := range partsOfChart() {
		err = errors.Join(err, read(from, to))
	}
	if err != nil {
		return nil, err
	}
	if content["koldun/files/digests.yaml"], err = yaml.Marshal(b.digests); err != nil {
		return nil, err
	}
	var description map[string]any
	if err := yaml.Unmarshal(content["koldun/Chart.yaml"], &description); err != nil {
		return nil, err
	}
	if crossplane {
		err = b.addCrossplane(ctx, content, description)
	} else {
		delete(description, "dependencies")
		content["koldun/Chart.yaml"], err = yaml.Marshal(description)
	}
	if err != nil {
		return nil, err
	}
	var all []file
	for _, name := range sorted(content) {
		all = append(all, file{name, content[name], 0o644})
	}
	return b.tarball(all...)
}

// crossplane returns the version, such as 2.4.0, and the folder of the Crossplane that tests
// run: its Go module, whose checksum the repository has.
func crossplane(ctx context.Context) (version, folder string, err error) {
	const module = "github.com/crossplane/crossplane/v2"
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = "test/tools/crossplane"
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("cannot download Crossplane: %w: %s", err, out)
	}
	var found struct{ Version, Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return "", "", err
	}
	return strings.TrimPrefix(found.Version, "v"), found.Dir, nil
}

// addCrossplane adds the chart of the Crossplane that tests run. It adds the CRDs too: Helm
// creates what is in crds before it looks at other objects, and Crossplane's pods would create
// them too late.
func (b *build) addCrossplane(ctx context.Context, content map[string][]byte, description map[string]any) error {
	version, folder, err := crossplane(ctx)
	if err != nil {
		return err
	}
	dependencies, _ := description["dependencies"].([]any)
	if len(dependencies) != 1 || dependencies[0].(map[string]any)["version"] != version {
		return fmt.Errorf("%s/Chart.yaml does not depend on Crossplane %s alone, which tests run", chartFolder, version)
	}
	const to = "charts/crossplane"
	for part, from := range map[string]string{"": crossplaneChart, "/crds": "cluster/crds"} {
		err := walk(filepath.Join(folder, from), to+part, func(path, name string) (err error) {
			content["koldun/"+name], err = os.ReadFile(filepath.Clean(path))
			return err
		})
		if err != nil {
			return err
		}
	}
	var chart map[string]any
	if err := yaml.Unmarshal(content["koldun/"+to+"/Chart.yaml"], &chart); err != nil {
		return err
	}
	chart["version"], chart["appVersion"] = version, version // as its release has
	if content["koldun/"+to+"/Chart.yaml"], err = yaml.Marshal(chart); err != nil {
		return err
	}
	values := "koldun/" + to + "/values.yaml"
	content[values], err = b.pinCrossplane(version, folder, content[values])
	return err
}

// walk visits the files of a folder, or the only file, with their names below to, but no
// tests and no kustomizations. It is an error if there are none.
func walk(from, to string, visit func(file, name string) error) error {
	none := fmt.Errorf("cannot find files in %q", from)
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) == ".go" || d.Name() == "kustomization.yaml" {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		none = nil
		return visit(file, path.Join(to, filepath.ToSlash(rel)))
	})
	return errors.Join(err, none)
}
