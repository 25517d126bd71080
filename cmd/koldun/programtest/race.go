//go:build race

package programtest

// raceFlag builds the program under test as the tests themselves are built.
const raceFlag = "-race"
