package kernel

import "golang.org/x/sys/cpu"

// machineSets returns the set for processors with the dot product instructions of
// ARMv8.2, as servers and boards have had them since 2018.
func machineSets() []*Set {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []*Set{{
		Name: "neon-dotprod", pack: packBytes, q40: neonQ40, tile: 4,
		f32: f32Tiles{f32NEON4x4, f32NEON4x1, f32NEON1x1, 4, false}.multiply, dot: neonDot, mix: mixers{mixNEON64, mixNEON16}.mix,
		addRounded: portableAddRounded, silu: portableSiLU, expSum: portableExpSum,
	}}
}
