// Package e2e proves the packages on a real API server with a real Crossplane:
// they are installed as a platform team installs them, and both Configurations
// take the same manifests.
package e2e
