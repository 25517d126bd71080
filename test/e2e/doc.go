// Package e2e tests the packages on a real API server with a real Crossplane: it
// installs them as a platform team does, and applies the same manifests to both
// Configurations.
//
// TestOnCrossplane simulates pods and the provider, and so sees every step of a
// rollout. TestServing runs both: KOLDUN_COLD_STARTS sets its number of cold starts,
// and KOLDUN_SEED the seed of the processes and times of its kills.
package e2e
