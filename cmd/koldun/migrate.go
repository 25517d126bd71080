package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/gorizond/koldun/cmd/koldun/migrate"
	"github.com/gorizond/koldun/internal/fault"
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
	m, err := migrate.New(migrate.Options{Claims: c.Flavour == "claims", Volumes: c.AdoptVolumes})
	if err != nil {
		return err
	}
	docs, err := c.read(in)
	if err != nil {
		return err
	}
	write := migrate.WriteYAML
	if c.Terraform {
		write = migrate.WriteHCL
	}
	lost := 0
	for _, d := range docs {
		r, err := m.Convert(ctx, d)
		if err != nil {
			return err
		}
		for _, n := range r.Notes {
			if n.Level == migrate.Lost {
				lost++
			}
			if _, err := fmt.Fprintf(notes, "%s: %s: %s\n", n.Where, n.Of, n); err != nil {
				return err
			}
		}
		if err := write(out, r); err != nil {
			return err
		}
	}
	if c.Strict && lost > 0 {
		return fault.Errorf(fault.Unsupported, "%d fields or objects are lost: see above", lost)
	}
	return nil
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
