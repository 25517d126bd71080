package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func versioned(version string) *build {
	return &build{source: source{version: version}, channel: "stable", digests: map[string]string{"koldun-function": digest}}
}

func TestPin(t *testing.T) {
	for text, want := range map[string]string{
		"package: ghcr.io/gorizond/koldun-configuration:v0.0.0":                   "package: ghcr.io/gorizond/koldun-configuration:v1.2.3-rc.1",
		"package: ghcr.io/gorizond/koldun-function:v0.0.0":                        "package: ghcr.io/gorizond/koldun-function:v1.2.3-rc.1@" + digest,
		"image: 'ghcr.io/gorizond/koldun:v0.0.0'":                                 "image: 'ghcr.io/gorizond/koldun:v1.2.3-rc.1'",
		"package: ghcr.io/gorizond/koldun-function\n      version: v0.0.0":        "package: ghcr.io/gorizond/koldun-function\n      version: " + digest,
		"package: ghcr.io/gorizond/koldun-provider\n      version: v0.0.0":        "package: ghcr.io/gorizond/koldun-provider\n      version: v1.2.3-rc.1",
		"name: koldun\nversion: 0.0.0\nappVersion: \"v0.0.0\"\ntype: application": "name: koldun\nversion: 1.2.3-rc.1\nappVersion: v1.2.3-rc.1\ntype: application",
		"image: ghcr.io/gorizond/distributed-llama:v0.16.4":                       "image: ghcr.io/gorizond/distributed-llama:v0.16.4",
	} {
		if got := versioned("v1.2.3-rc.1").pin(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, valid := range map[string]bool{
		"v1.2.3": true, "v0.0.0-gd7106ae-dirty": true, "v1.2.3-4-gd7106ae": true, "v1.0.0-rc.1": true, "v0.0.0": true,
		"1.2.3": false, "v1.2": false, "dev": false, "": false, "d7106ae": false, "v1.2.3-": false, "v1.2.3 -X main.image=evil": false, "v01.2.3": false,
	} {
		if validVersion.MatchString(version) != valid {
			t.Errorf("validity of version %q is %t", version, !valid)
		}
	}
}

// TestNoOtherVersion checks every manifest of packages: each version in it is that of the
// repository, in a form that a build replaces.
func TestNoOtherVersion(t *testing.T) {
	t.Chdir("../..")
	found := 0
	check := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), ":latest") || strings.Contains(string(raw), ">="+unreleased) {
			t.Errorf("%s names the latest version, want %s", path, unreleased)
		}
		found += strings.Count(string(raw), unreleased)
		if _, err := versioned("v0.0.0-gd7106ae").pinned(path); err != nil {
			t.Error(err)
		}
		return nil
	}
	for _, root := range []string{"crossplane.yaml", "package", "examples/argocd"} {
		if err := filepath.WalkDir(root, check); err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("found %d versions, want more: the test reads the wrong folders", found)
	}
}

// TestActionsArePinned checks that workflows name the actions that they run by commits, and
// images by digests: tags can move.
func TestActionsArePinned(t *testing.T) {
	paths := must(filepath.Glob("../../.github/workflows/*.yml"))(t)
	pinned := regexp.MustCompile(`uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`)
	image := regexp.MustCompile(`^\s*(- )?(image|container): `)
	found := 0
	for _, path := range paths {
		for line := range strings.Lines(string(must(os.ReadFile(path))(t))) {
			if image.MatchString(line) && !strings.Contains(line, "@sha256:") {
				t.Errorf("%s: %q names no digest", path, line)
			}
			if strings.Contains(line, "uses: ") {
				if found++; !pinned.MatchString(line) {
					t.Errorf("%s: %q names no commit", path, line)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("found %d actions in %v, want more", found, paths)
	}
}

// TestWhatIsPushedIsSigned checks that each workflow that pushes signs digests, never tags,
// and attests where they come from.
func TestWhatIsPushedIsSigned(t *testing.T) {
	pushes := regexp.MustCompile(`publish/push(-chart)?\.sh|--push `)
	signs := regexp.MustCompile(`cosign sign --yes .*"([^"]+)"\n`)
	found := 0
	for _, path := range must(filepath.Glob("../../.github/workflows/*.yml"))(t) {
		text := string(must(os.ReadFile(path))(t))
		if !pushes.MatchString(text) {
			continue
		}
		signed := signs.FindAllStringSubmatch(text, -1)
		found += len(signed)
		for _, s := range signed {
			if !strings.HasSuffix(s[1], "@$digest") {
				t.Errorf("%s signs %s, want a digest", path, s[1])
			}
		}
		if len(signed) == 0 || !strings.Contains(text, "uses: actions/attest-build-provenance@") {
			t.Errorf("%s pushes what it does not sign and attest", path)
		}
	}
	release := string(must(os.ReadFile("../../.github/workflows/release.yml"))(t))
	if found < 3 || !strings.Contains(release, `sign-blob --yes --bundle "$OUT/files/SHA256SUMS.sigstore.json"`) {
		t.Errorf("%d signatures of images, packages and the chart, and one of the files: some are missing", found)
	}
}

func TestUnknownForm(t *testing.T) {
	path := filepath.Join(rootOf(t, map[string]string{"a.yaml": "# v0.0.0\nrelease: v0.0.0\n"}), "a.yaml")
	if _, err := versioned("v1.2.3").pinned(path); err == nil || !strings.Contains(err.Error(), "does not know") {
		t.Errorf("a version in an unknown form: got %v", err)
	}
}

func TestChannel(t *testing.T) {
	text := "labels: {koldun.gorizond.io/channel: stable}\nfunctionRef:\n  name: gorizond-koldun-function\nkind: x"
	b := versioned("v1.2.3")
	if got := b.edit(text); got != text {
		t.Errorf("the channel stable becomes %q", got)
	}
	b.channel = "fast"
	if want := strings.NewReplacer("stable", "fast", "function\n", "function-fast\n").Replace(text); b.edit(text) != want {
		t.Errorf("the channel fast becomes %q, want %q", b.edit(text), want)
	}
}
