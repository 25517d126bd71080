package providertest

import "testing"

// OneKind skips the test of a kind with the race detector unless the kind is the one:
// permutations are five times as slow with it, and all kinds run through the same code.
func OneKind(t *testing.T, kind, one string) {
	t.Helper()
	if raceEnabled && kind != one {
		t.Skipf("only %s is permuted with the race detector; run it without: go test -run TestEveryPermutation .", one)
	}
}
