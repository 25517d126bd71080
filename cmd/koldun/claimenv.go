package main

import (
	"os"
	"strings"

	"github.com/gorizond/koldun/internal/names"
)

// takeClaimEnv sets the variables of a claim's Secrets and ConfigMaps that the claim may set
// here. The container's own variables count before them.
func takeClaimEnv() {
	for name, value := range claimEnv(os.Environ()) {
		_ = os.Setenv(name, value) // a name that cannot be set was none in the container either
	}
}

// claimEnv returns what an environment holds of a claim's Secrets and ConfigMaps, and may.
func claimEnv(environ []string) map[string]string {
	own, claimed := map[string]bool{}, map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if variable, ok := strings.CutPrefix(name, names.EnvClaim); !ok {
			own[name] = true
		} else if names.Claimable(variable) {
			claimed[variable] = value
		}
	}
	for name := range own {
		delete(claimed, name)
	}
	return claimed
}
