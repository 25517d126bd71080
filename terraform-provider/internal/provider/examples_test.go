package provider_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gorizond/koldun/terraform-provider/internal/provider"
)

// TestEverythingHasAnExample requires the sources of the documentation and the
// generated page of each resource, data source and function.
func TestEverythingHasAnExample(t *testing.T) {
	const koldun = "koldun"
	p := provider.New("test", os.Getenv)
	t.Cleanup(p.Close)
	want := map[string][]string{"docs": {"index.md"}, "examples/provider": {"provider.tf"}}
	add := func(kind, name, page string, files ...string) {
		want["docs/"+kind] = append(want["docs/"+kind], page+".md")
		folder := "examples/" + kind + "/" + name
		want[folder] = append(want[folder], files...)
	}
	page := func(name string) string { return name[len(koldun)+1:] }
	for _, create := range p.Resources(t.Context()) {
		var m resource.MetadataResponse
		create().Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: koldun}, &m)
		add("resources", m.TypeName, page(m.TypeName), "resource.tf", "import.sh", "import-by-identity.tf")
	}
	for _, create := range p.DataSources(t.Context()) {
		var m datasource.MetadataResponse
		create().Metadata(t.Context(), datasource.MetadataRequest{ProviderTypeName: koldun}, &m)
		add("data-sources", m.TypeName, page(m.TypeName), "data-source.tf")
	}
	for _, create := range p.EphemeralResources(t.Context()) {
		var m ephemeral.MetadataResponse
		create().Metadata(t.Context(), ephemeral.MetadataRequest{ProviderTypeName: koldun}, &m)
		add("ephemeral-resources", m.TypeName, page(m.TypeName), "ephemeral-resource.tf")
	}
	for _, create := range p.Functions(t.Context()) {
		var m function.MetadataResponse
		create().Metadata(t.Context(), function.MetadataRequest{}, &m)
		add("functions", m.Name, m.Name, "function.tf")
	}
	files := 0
	for folder, names := range want {
		for _, name := range names {
			files++
			if _, err := os.Stat(filepath.Join("../..", folder, name)); err != nil {
				t.Error(err)
			}
		}
	}
	if files < 90 {
		t.Errorf("got only %d checked files", files)
	}
}
