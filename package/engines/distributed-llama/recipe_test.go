// Package recipe_test checks the recipe of distributed-llama: its pins, what it
// refuses, and what it builds.
package recipe_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/test/sourcetest"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	repository = "ghcr.io/gorizond/distributed-llama"
	workflow   = "../../../.github/workflows/engine-image.yml"
)

// pins reads pins.env.
func pins(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for s := bufio.NewScanner(strings.NewReader(read(t, "pins.env"))); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), "="); ok && !strings.HasPrefix(name, "#") {
			out[name] = value
		}
	}
	return out
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestPins(t *testing.T) {
	p := pins(t)
	for name, pattern := range map[string]string{
		"REPOSITORY": `^b4rtaz/distributed-llama$`, "COMMIT": `^[0-9a-f]{40}$`, "CONTENT": `^[0-9a-f]{64}$`, "VERSION": `^v\d+\.\d+\.\d+(-\d+-g[0-9a-f]{7})?(-\d+)?$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(p[name]) {
			t.Errorf("%s=%q does not match %s", name, p[name], pattern)
		}
	}
	if !strings.Contains(p["VERSION"], "-g"+p["COMMIT"][:7]) {
		t.Errorf("version %s is not one of commit %s", p["VERSION"], p["COMMIT"])
	}
	if want := repository + ":" + p["VERSION"]; distributedllama.Image != want {
		t.Errorf("the default image is %s, and the recipe makes %s", distributedllama.Image, want)
	}
}

// TestOnePlaceForPins checks that whatever builds or publishes the engine takes
// its source from pins.env through source.sh.
func TestOnePlaceForPins(t *testing.T) {
	digest := regexp.MustCompile(`\b[0-9a-f]{40,64}\b`)
	for name, calls := range map[string]string{
		"Dockerfile": "./image.sh ", "image.sh": `"$here/source.sh" `, "source.sh": `. "$here/pins.env"`, "engine.mk": "$(DLLAMA_RECIPE)/source.sh ", workflow: "pins.env",
	} {
		var code []string
		for line := range strings.Lines(read(t, name)) {
			if text := strings.TrimSpace(line); !strings.HasPrefix(text, "#") && !strings.HasPrefix(strings.TrimPrefix(text, "- "), "uses: ") && !strings.HasPrefix(text, "FROM ") {
				code = append(code, line)
			}
		}
		text := strings.Join(code, "")
		if found := digest.FindString(text); found != "" {
			t.Errorf("%s names %s itself", name, found)
		}
		if !strings.Contains(text, calls) {
			t.Errorf("%s does not call %q", name, calls)
		}
	}
	if !regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM \S+@sha256:[0-9a-f]{64} AS build$`).MatchString(read(t, "Dockerfile")) {
		t.Error("the image that compiles is not named by its digest")
	}
	if final := read(t, "Dockerfile"); !strings.Contains(final, "\nFROM scratch\n") || !strings.Contains(final, "\nUSER 65532:65532\n") {
		t.Error("the image is not from scratch, or runs as root")
	}
}

// TestNamedImages checks that claims and docs name the image that the recipe makes.
func TestNamedImages(t *testing.T) {
	image := regexp.MustCompile(`ghcr\.io/[\w.\-/]*distributed-llama:[\w.\-]+`)
	named := 0
	for _, folder := range []string{"README.md", "docs", "examples", "terraform-provider/examples", "terraform-provider/docs", "test"} {
		err := filepath.WalkDir(filepath.Join("../../..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".yaml", ".tf", ".hcl", ".go"}, filepath.Ext(path)) {
				return err
			}
			for _, found := range image.FindAllString(read(t, path), -1) {
				if named++; found != distributedllama.Image {
					t.Errorf("%s names %s, and the recipe makes %s", path, found, distributedllama.Image)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named == 0 {
		t.Error("no file names the image: the test reads the wrong folders")
	}
}

// scripts makes the files of the recipe, which its scripts read, inputs of the test.
func scripts(t *testing.T) {
	t.Helper()
	if err := sourcetest.Folders("."); err != nil {
		t.Fatal(err)
	}
}

// source runs source.sh on an archive.
func source(t *testing.T, archive string) (string, error) {
	t.Helper()
	scripts(t)
	cmd := exec.CommandContext(waittest.Context(t), "./source.sh", filepath.Join(t.TempDir(), "source"))
	cmd.Env = append(os.Environ(), "DLLAMA_SRC="+archive)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// archive packs empty files and others.
func archive(t *testing.T, others ...tar.Header) []byte {
	t.Helper()
	var raw bytes.Buffer
	zip := gzip.NewWriter(&raw)
	files := tar.NewWriter(zip)
	for _, name := range pinned {
		others = append(others, tar.Header{Name: name, Typeflag: tar.TypeReg})
	}
	slices.SortStableFunc(others, func(a, b tar.Header) int { return int(a.Typeflag) - int(b.Typeflag) }) // a link follows its target
	for _, h := range others {
		h.Name, h.Mode = top+h.Name, 0o644
		if err := files.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

const top = "distributed-llama/"

var pinned = []string{"LICENSE", "Makefile", "src/app.cpp"}

func TestSourceRefusesOtherContent(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{"forged.tar.gz": archive(t), "text": []byte("text")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"forged.tar.gz": "not " + pins(t)["CONTENT"], "text": "not a .tar.gz archive", "missing": "not a file",
	} {
		out, err := source(t, filepath.Join(dir, name))
		if err == nil || !strings.Contains(out, want) || !strings.Contains(out, "set DLLAMA_SRC to the archive from https://") && !strings.Contains(out, "set it to the archive from https://") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// TestSourceKeepsOnlyPinnedContent checks that nothing else of an archive takes part
// in the build, if the content of the pinned files is right.
func TestSourceKeepsOnlyPinnedContent(t *testing.T) {
	recipe := t.TempDir()
	var list strings.Builder
	for _, name := range pinned {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(nil), name)
	}
	write(t, filepath.Join(recipe, "source.sh"), []byte(read(t, "source.sh")))
	write(t, filepath.Join(recipe, "pins.env"), fmt.Appendf(nil, "REPOSITORY=a/b\nCOMMIT=c\nCONTENT=%x\n", sha256.Sum256([]byte(list.String()))))
	for name, c := range map[string]struct {
		other   tar.Header
		refused bool
	}{
		"GNUmakefile": {other: tar.Header{Name: "GNUmakefile", Typeflag: tar.TypeReg}},
		"Object":      {other: tar.Header{Name: "nn-core.o", Typeflag: tar.TypeReg}},
		"Folder":      {other: tar.Header{Name: "include/stdio.h", Typeflag: tar.TypeReg}},
		"Hidden":      {other: tar.Header{Name: ".git/config", Typeflag: tar.TypeReg}},
		"LinkBeside":  {other: tar.Header{Name: "src.o", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}},
		"SoftLink":    {other: tar.Header{Name: "src/nn-core.cpp", Typeflag: tar.TypeSymlink, Linkname: "app.cpp"}, refused: true},
		"HardLink":    {other: tar.Header{Name: "src/nn-core.cpp", Typeflag: tar.TypeLink, Linkname: top + "src/app.cpp"}, refused: true},
		"Pipe":        {other: tar.Header{Name: "src/pipe", Typeflag: tar.TypeFifo}, refused: true},
		"Space":       {other: tar.Header{Name: "src/ none", Typeflag: tar.TypeReg}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			file, out := filepath.Join(t.TempDir(), "archive.tar.gz"), filepath.Join(t.TempDir(), "source")
			write(t, file, archive(t, c.other))
			cmd := exec.CommandContext(waittest.Context(t), "sh", filepath.Join(recipe, "source.sh"), out)
			cmd.Env = append(os.Environ(), "DLLAMA_SRC="+file)
			said, err := cmd.CombinedOutput()
			if c.refused {
				if err == nil || !strings.Contains(string(said), "a link, a device or no plain name") {
					t.Errorf("%v: %s", err, said)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			var got []string
			err = filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					got = append(got, strings.TrimPrefix(path, out+"/"))
				}
				return err
			})
			if err != nil || !slices.Equal(got, pinned) {
				t.Errorf("the source has %q (%v), want %q", got, err, pinned)
			}
		})
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPublishOnlyWhatIsMissing runs the script of the workflow: a registry that does
// not answer must not make it push a version again.
func TestPublishOnlyWhatIsMissing(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			If    string
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, workflow)), &w); err != nil {
		t.Fatal(err)
	}
	job := w.Jobs["publish"]
	if job.If != "github.ref == 'refs/heads/main'" {
		t.Errorf("the job runs if %q: other branches can publish", job.If)
	}
	build := slices.IndexFunc(job.Steps, func(s struct{ ID, Run string }) bool { return s.ID == "build" })
	if build < 0 {
		t.Fatal("the job has no step build")
	}
	script := job.Steps[build].Run
	bin := t.TempDir()
	docker := "#!/bin/sh\ncase \"$*\" in\n*inspect*) echo \"$ANSWER\"; exit \"$CODE\" ;;\n*--push*) echo pushed ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o700); err != nil {
		t.Fatal(err)
	}
	image := "ghcr.io/gorizond/distributed-llama:" + pins(t)["VERSION"]
	for name, c := range map[string]struct {
		answer, code   string
		pushes, passes bool
	}{
		"Published":     {"Name: " + image, "0", false, true},
		"NoVersion":     {"ERROR: " + image + ": not found", "1", true, true},
		"NoManifest":    {"ERROR: manifest unknown", "1", true, true},
		"NoPackage":     {"ERROR: failed to authorize: denied: requested access to the resource is denied", "1", true, true},
		"NoToken":       {"ERROR: unexpected status from GET request to https://ghcr.io/token?scope=x: 403 Forbidden", "1", true, true},
		"NoRegistry":    {"ERROR: dial tcp: lookup ghcr.io: no such host", "1", false, false},
		"BadRegistry":   {"ERROR: unexpected status from HEAD request to https://ghcr.io/v2/x: 503 Service Unavailable", "1", false, false},
		"NoRights":      {"ERROR: open /config.json: permission denied", "1", false, false},
		"NoCredentials": {"error getting credentials: exec: \"docker-credential-x\": executable file not found in $PATH", "1", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(waittest.Context(t), "bash", "-c", script)
			cmd.Dir = "../../.."
			temp := t.TempDir()
			output := filepath.Join(temp, "output")
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ANSWER="+c.answer, "CODE="+c.code, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output,
				"TOKEN=t", "GITHUB_ACTOR=a", "GITHUB_REPOSITORY=Gorizond/koldun", "GITHUB_REPOSITORY_OWNER=Gorizond")
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.passes || strings.Contains(string(out), "pushed") != c.pushes {
				t.Errorf("passes: %v, want %t; pushes: want %t: %s", err, c.passes, c.pushes, out)
			}
			// The next steps sign what this one has pushed, and nothing else.
			if _, err := os.Stat(output); (err == nil) != c.pushes {
				t.Errorf("names an image to sign: %v, want %t", err, c.pushes)
			}
		})
	}
}

// TestImage builds the files of the image for this machine's architecture.
func TestImage(t *testing.T) {
	archive := os.Getenv("DLLAMA_SRC")
	if archive == "" {
		t.Skip("builds for a minute from the archive of the source: DLLAMA_SRC=FILE go test ./package/engines/distributed-llama")
	}
	if _, err := exec.LookPath("dpkg"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("builds with the compiler of an amd64 machine with Debian or Ubuntu: run it there, or docker build package/engines/distributed-llama")
	}
	scripts(t)
	root := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit(15*time.Minute)) // it compiles for minutes
	defer cancel()
	out, err := exec.CommandContext(ctx, "nice", "-n", "19", "./image.sh", "amd64", root).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var programs []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root)
		switch {
		case err != nil || d.IsDir():
			return err
		case d.Type()&fs.ModeSymlink != 0:
			if target, err := filepath.EvalSymlinks(path); err != nil || filepath.Base(target) != "launch" {
				t.Errorf("%s leads to %q, %v", name, target, err)
			}
		case filepath.Base(name) != "LICENSE":
			static(t, path)
		}
		programs = append(programs, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const libexec = "/usr/local/libexec/distributed-llama/"
	want := []string{
		"/usr/local/bin/dllama", "/usr/local/bin/dllama-api", libexec + "launch", libexec + "x86-64-v2/dllama", libexec + "x86-64-v2/dllama-api",
		libexec + "x86-64-v3/dllama", libexec + "x86-64-v3/dllama-api", "/usr/share/doc/distributed-llama/LICENSE",
	}
	if !slices.Equal(programs, want) {
		t.Errorf("the image holds %q, want %q", programs, want)
	}
}

// static fails if a program needs a loader or libraries, which the image lacks.
func static(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is not static", path)
		}
	}
}
