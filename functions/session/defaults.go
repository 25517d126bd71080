package session

// What the fields that spec.scaling leaves out mean. Without maxDllamas, a pool
// may grow to maxMembers.
const (
	defaultMinDllamas           = 1
	defaultScaleUpBacklog       = 1
	defaultScaleDownIdleSeconds = 300
)
