// Package e2e proves the packages on a real API server with a real Crossplane:
// they are installed as a platform team installs them, and both Configurations
// take the same manifests.
//
// TestOnCrossplane simulates pods and the provider, and so sees every step of a
// rollout. TestServing runs both: KOLDUN_COLD_STARTS is how often it asks a
// model that nobody serves, and KOLDUN_SEED repeats what it kills, and when.
package e2e
