//go:build race

package main_test

// raceFlag builds the program under test as the tests themselves are built.
const raceFlag = "-race"
