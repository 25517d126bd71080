package compose

import "github.com/gorizond/koldun/internal/engine"

// ReleaseImage returns the image of the koldun binary of a version, so that pods
// understand the arguments that they are composed with. Builds without a version
// use the newest.
func ReleaseImage(version string) string {
	if version == "dev" {
		version = "latest"
	}
	return engine.Repository + ":" + version
}
