package compose

// ReleaseImage returns the image of the koldun binary of a version, so that pods
// understand the arguments that they are composed with. Builds without a version
// use the newest.
func ReleaseImage(version string) string {
	const repository = "ghcr.io/gorizond/koldun"
	if version == "dev" {
		return repository + ":latest"
	}
	return repository + ":" + version
}
