package compose

import "github.com/gorizond/koldun/internal/engine"

// ReleaseImage returns the image of the koldun binary of a version, so that pods
// understand the arguments that they are composed with.
func ReleaseImage(version string) string {
	return engine.Repository + ":" + version
}
