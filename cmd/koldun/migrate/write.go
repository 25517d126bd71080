package migrate

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// WriteYAML writes the claims of one old object, after comments with its notes.
func WriteYAML(to io.Writer, r Result) error {
	for i, obj := range r.Objects {
		raw, err := yaml.Marshal(obj)
		if err != nil {
			return fmt.Errorf("cannot write claim: %w", err)
		}
		text := "---\n"
		if i == 0 {
			text += comments(r.Notes)
		}
		if _, err := fmt.Fprintf(to, "%s%s", text, raw); err != nil {
			return err
		}
	}
	return nil
}

func comments(notes []Note) string {
	text := ""
	for _, n := range notes {
		text += "# " + n.String() + "\n"
	}
	return text
}
