package compose

// ReleaseImage is the image of the koldun binary of a version, so that what is
// composed knows what it is told. Builds without a version use the newest.
func ReleaseImage(version string) string {
	const repository = "ghcr.io/gorizond/koldun"
	if version == "dev" {
		return repository + ":latest"
	}
	return repository + ":" + version
}
