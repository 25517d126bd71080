package platform

import (
	"strings"

	"github.com/gorizond/koldun/internal/engine"
)

// Fields of a Rule that allow images.
const (
	grantImages        = "images"
	grantGatewayImages = "gatewayImages"
)

// Image is the use of an image of an engine or server, whose containers hold no login.
func Image(field, image string) Use {
	return Use{Field: field, What: "image", Value: image, Grant: grantImages}
}

// GatewayImage is the use of an image whose containers hold logins.
func GatewayImage(field, image string) Use {
	return Use{Field: field, What: "image", Value: image, Grant: grantGatewayImages}
}

// Own reports whether an image is Koldun's own in a role: what Koldun runs there by itself.
type Own struct{ Engine, Gateway func(image string) bool }

func (o Own) allows(u Use) bool {
	switch u.Grant {
	case grantImages:
		return o.Engine != nil && o.Engine(u.Value)
	case grantGatewayImages:
		return o.Gateway != nil && o.Gateway(u.Value)
	}
	return false
}

// covers reports whether an entry of a list of images covers an image: as its registry, or
// the beginning of its repository, up to a slash; as its repository; or as the image itself.
func covers(entry, image string) bool {
	rest, found := strings.CutPrefix(image, entry)
	switch {
	case entry == "" || !found:
		return false
	case rest == "" || rest[0] == '/' || strings.HasSuffix(entry, "/"):
		return true
	}
	return engine.RepositoryOf(image) == entry
}
