package migrate

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/validation"
)

// fromServer are the fields of metadata that an API server sets. Exported objects
// have them.
func fromServer() []string {
	return []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink", "finalizers", "generateName"}
}

// metadata returns the metadata of the claim.
func (c *conversion) metadata() map[string]any {
	for _, f := range fromServer() {
		c.take("metadata." + f)
	}
	meta, _ := c.in["metadata"].(map[string]any)
	out := map[string]any{}
	for _, name := range sorted(meta) {
		switch name {
		case "name":
			out[name] = c.label("metadata.name", c.kind.to)
		case "namespace":
			if c.kind.cluster {
				c.info("metadata.namespace", c.kind.to+" belongs to no namespace")
				continue
			}
			out[name] = meta[name]
		case "labels", "annotations":
			if kept := c.marks("metadata."+name, meta[name]); len(kept) > 0 {
				out[name] = kept
			}
		default:
			c.lose("metadata."+name, "claims have no such field", "")
		}
	}
	return out
}

// label returns the name at a path, of an object of a kind now: without dots, unless the
// kind allows them.
func (c *conversion) label(path, kind string) string {
	name := c.text(path)
	if !strings.Contains(name, ".") || validation.DottedNames(kind) {
		return name
	}
	out := strings.ReplaceAll(name, ".", "-")
	c.info(path, fmt.Sprintf("names of %ss have no dots: it is now %s", kind, out))
	return out
}

// marks returns the labels or annotations of the user.
func (c *conversion) marks(path string, v any) map[string]any {
	out := map[string]any{}
	all, _ := v.(map[string]any)
	for _, key := range sorted(all) {
		switch {
		case key == "kubectl.kubernetes.io/last-applied-configuration", strings.HasPrefix(key, "meta.helm.sh/"),
			key == "app.kubernetes.io/managed-by", key == "helm.sh/chart", strings.HasPrefix(key, "objectset.rio.cattle.io/"):
		case c.kind.marks != nil && c.kind.marks(key) != "":
			c.lose(child(path, key), c.kind.marks(key), "")
		case strings.HasPrefix(key, v1.Group+"/") && !ownMark(key):
			c.lose(child(path, key), "the old operator set it for itself", "")
		default:
			out[key] = all[key]
		}
	}
	return out
}

// ownMark reports whether claims have the annotation or label, too.
func ownMark(key string) bool {
	switch strings.TrimPrefix(key, v1.Group+"/") {
	case "force-size-rerun", "token", "dllama", "root", "worker":
		return true
	}
	return false
}
