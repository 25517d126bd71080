package simulate

// A Behavior defines how the containers of a pod run and end.
type Behavior struct {
	waiting string // reason
	message string
	exit    int32
	ends    bool
	unready bool
}

// Run is the behavior of a successful pod: it becomes ready or, if it belongs to a
// Job, ends with status 0.
func Run() Behavior { return Behavior{} }

// Exit is the behavior of a pod whose containers end with that status after every
// start.
func Exit(status int32) Behavior { return Behavior{ends: true, exit: status} }

// Unready is the behavior of a pod that runs and never becomes ready; a Job's pod
// never ends.
func Unready() Behavior { return Behavior{unready: true} }

// Waiting is the behavior of a pod whose containers cannot start, with a kubelet's
// reason, such as ImagePullBackOff.
func Waiting(reason, message string) Behavior { return Behavior{waiting: reason, message: message} }
