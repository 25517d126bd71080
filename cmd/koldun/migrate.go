package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gorizond/koldun/cmd/koldun/migrate"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/terraform-provider/hcl"
)

// MigrateCmd writes the claims that manifests of other systems become.
type MigrateCmd struct {
	Files        []string `name:"file" short:"f" required:"" help:"File or folder with manifests of kold, the first Koldun, hf-operator, Prem-Operator or Model Orchestra; - is standard input. May be repeated."`
	Flavour      string   `default:"namespaced" enum:"namespaced,claims" help:"Configuration package of the cluster: ${enum}."`
	AdoptVolumes bool     `help:"Serve the volumes that the old operator has filled: needs the status of exported Models."`
	Terraform    bool     `help:"Write HCL for the Terraform provider, with import blocks for claims that exist."`
	Strict       bool     `help:"Fail if anything is lost."`
}

// Run writes claims to standard output, and what they leave out to standard error.
func (c *MigrateCmd) Run(ctx context.Context) error {
	return c.run(ctx, os.Stdin, os.Stdout, os.Stderr)
}

func (c *MigrateCmd) run(ctx context.Context, in io.Reader, out, notes io.Writer) error {
	m, err := migrate.New(migrate.Options{Claims: c.Flavour == "claims", Volumes: c.AdoptVolumes, HCL: c.Terraform})
	if err != nil {
		return err
	}
	docs, err := c.read(in)
	if err != nil {
		return err
	}
	n, err := c.convert(ctx, m, docs, out, notes)
	switch {
	case err != nil:
		return err
	case n.failed > 0:
		return fault.Errorf(fault.Invalid, "cannot convert %d of %d objects: see above", n.failed, len(docs))
	case c.Strict && n.lost > 0:
		return fault.Errorf(fault.Unsupported, "%d fields or objects are lost: see above", n.lost)
	}
	return nil
}

// A tally counts objects that could not be converted, and what the others lost.
type tally struct{ failed, lost int }

// convert writes what each object becomes. An object that cannot be converted does
// not keep the others back.
func (c *MigrateCmd) convert(ctx context.Context, m *migrate.Migrator, docs []*migrate.Document, out, notes io.Writer) (n tally, err error) {
	write := migrate.WriteYAML
	if c.Terraform {
		taken := hcl.Addresses{}
		write = func(to io.Writer, r migrate.Result) error { return migrate.WriteHCL(to, r, taken) }
	}
	names := migrate.Names{}
	for _, d := range docs {
		var text bytes.Buffer
		r, failure := m.Convert(ctx, d)
		if failure == nil {
			failure = names.Add(d, r)
		}
		if failure == nil {
			failure = write(&text, r)
		}
		for _, note := range r.Notes {
			if note.Level == migrate.Lost {
				n.lost++
			}
			if _, err := fmt.Fprintln(notes, note.Line()); err != nil {
				return n, err
			}
		}
		if failure != nil {
			n.failed++
			if _, err := fmt.Fprintf(notes, "error: %s\n", migrate.OneLine(failure.Error())); err != nil {
				return n, err
			}
			continue
		}
		if _, err := out.Write(text.Bytes()); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (c *MigrateCmd) read(in io.Reader) ([]*migrate.Document, error) {
	var out []*migrate.Document
	for _, name := range c.Files {
		files, err := manifests(name)
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read manifests: %w", err)
		}
		for _, file := range files {
			docs, err := readManifests(file, in)
			if err != nil {
				return nil, err
			}
			out = append(out, docs...)
		}
	}
	if len(out) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot migrate %q: it holds no object", c.Files)
	}
	return out, nil
}

// manifests returns the files of a folder, or the file itself.
func manifests(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var out []string
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		found, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.Sort(out)
	return out, nil
}

func readManifests(name string, in io.Reader) (docs []*migrate.Document, err error) {
	if name == "-" {
		return migrate.Read(name, in)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot read manifests: %w", err)
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	return migrate.Read(name, f)
}
