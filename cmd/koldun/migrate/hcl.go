package migrate

import (
	"fmt"
	"io"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/terraform-provider/hcl"
)

// WriteHCL writes the claims of one old object as resources of the Terraform
// provider, after comments with its notes.
func WriteHCL(to io.Writer, r Result) error {
	comments := make([]string, 0, len(r.Notes))
	for _, n := range r.Notes {
		comments = append(comments, n.String())
	}
	for _, obj := range r.Objects {
		if obj["apiVersion"] != v1.APIVersion {
			if _, err := fmt.Fprintf(to, "# %v %s is no claim: write it as YAML, without --terraform\n\n", obj["kind"], nameOf(obj)); err != nil {
				return err
			}
			continue
		}
		if err := hcl.WriteClaim(to, obj, comments); err != nil {
			return err
		}
		comments = nil
	}
	return nil
}

func nameOf(obj map[string]any) string {
	name, _ := get(obj, "metadata.name")
	s, _ := name.(string)
	return s
}
