package simulate

// A Fate says how the containers of a pod end or run.
type Fate struct {
	waiting string // reason
	message string
	exit    int32
	ends    bool
	unready bool
}

// Run is the fate of a pod that does what it should: it becomes ready, or, if
// it is a Job's, ends with status 0.
func Run() Fate { return Fate{} }

// Exit is the fate of a pod whose containers end with that status, again and
// again if they are restarted.
func Exit(status int32) Fate { return Fate{ends: true, exit: status} }

// Unready is the fate of a pod that runs and never becomes ready; a Job's pod
// never ends.
func Unready() Fate { return Fate{unready: true} }

// Waiting is the fate of a pod whose containers cannot start, with a kubelet's
// reason, such as ImagePullBackOff.
func Waiting(reason, message string) Fate { return Fate{waiting: reason, message: message} }
