package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// modules are versions by the paths of Go modules.
type modules map[string]string

// note reads the modules of a program. Those of all its platforms add up.
func (b *build) note(name string, program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("cannot read the modules of %s: %w", name, err)
	}
	if b.modules[name] == nil {
		b.modules[name] = modules{}
	}
	b.modules[name]["std"] = info.GoVersion
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.modules[name][m.Path] = m.Version
	}
	return nil
}

// materials writes the bill of materials of each program in CycloneDX: the modules that
// the linker has noted in it.
func (b *build) materials() error {
	for _, name := range sorted(b.modules) {
		var out bytes.Buffer
		e := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true)
		if err := e.EncodeVersion(b.bill(name), cdx.SpecVersion1_6); err != nil {
			return fmt.Errorf("cannot write the bill of materials of %s: %w", name, err)
		}
		if err := b.write(files, name+"_"+b.number()+".cdx.json", out.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) bill(name string) *cdx.BOM {
	const module = "github.com/gorizond/koldun"
	main := cdx.Component{
		BOMRef: name, Type: cdx.ComponentTypeApplication, Name: name, Version: b.version,
		PackageURL: "pkg:golang/" + module + "@" + b.version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	var parts []cdx.Component
	var refs []string
	for _, path := range sorted(b.modules[name]) {
		version := b.modules[name][path]
		ref := packageURL(path, version)
		parts = append(parts, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: ref})
		refs = append(refs, ref)
	}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Timestamp: b.date.Format(time.RFC3339), Component: &main}
	bill.Components = &parts
	bill.Dependencies = &[]cdx.Dependency{{Ref: name, Dependencies: &refs}}
	return bill
}

// packageURL returns the package URL of a Go module: in lower case, with its version.
// https://github.com/package-url/purl-spec
func packageURL(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}
