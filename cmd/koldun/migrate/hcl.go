package migrate

import (
	"io"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/terraform-provider/hcl"
)

// WriteHCL writes the claims of one old object as resources of the Terraform
// provider, after comments with its notes. It writes nothing else: the notes of a
// Migrator for HCL say what is lost. taken has the addresses of earlier resources.
func WriteHCL(to io.Writer, r Result, taken hcl.Addresses) error {
	comments := make([]string, 0, len(r.Notes))
	for _, n := range r.Notes {
		comments = append(comments, n.String())
	}
	for _, obj := range r.Objects {
		if obj["apiVersion"] != v1.APIVersion {
			continue
		}
		if err := hcl.WriteClaim(to, obj, comments, taken); err != nil {
			return err
		}
		comments = nil
	}
	return nil
}
