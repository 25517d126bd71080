package waittest

import "time"

// Patience is the deadline of every wait. It is generous because the machine may
// become busier than it was when it was measured; a passing test never waits that long.
var Patience = Limit(2 * time.Minute)

// slowness says how many times slower than a usual machine this one is: because of its
// processor, of other programs, of the race detector or of an emulator. The start of the
// process measures it, because a test in a bubble of synctest has no real clock.
var slowness = slownessOf(sample())

// Limit returns the deadline of a wait that takes up to the usual time on a usual
// machine. It is longer on a slow one.
func Limit(usual time.Duration) time.Duration {
	return time.Duration(float64(usual) * slowness).Round(time.Millisecond)
}

const (
	// usualSample is how long sample takes on a usual machine that is idle.
	usualSample = 10 * time.Millisecond
	// slowest bounds the slowness, so that a test which hangs ends within minutes.
	slowest = 5
)

// slownessOf returns how slow the machine is on which the sample took so long.
func slownessOf(sample time.Duration) float64 {
	return min(max(float64(sample)/float64(usualSample), 1), slowest)
}

// sample returns how long a fixed piece of work takes. It counts numbers in a map,
// which the race detector slows down about as much as our programs.
func sample() time.Duration {
	begun, counts := time.Now(), map[uint32]int{}
	for i := range uint32(1 << 20) {
		counts[i*2654435761>>20]++
	}
	return time.Since(begun)
}
