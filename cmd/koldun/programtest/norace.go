//go:build !race

package programtest

const raceFlag = "-race=false"
