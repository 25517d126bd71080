package job

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

// Port of a Job's pod on which it serves its progress.
const (
	PortProgress   = "progress"
	ProgressNumber = 8084
)

// ServeProgress is the argument with which a Job serves its progress on a port of its
// pod.
func ServeProgress(port string) string { return "--metrics-listen=:" + names.PortRef(port) }

// A Fetch describes a download from a hub.
type Fetch struct {
	From modelref.Ref // pinned to a commit
	To   string       // folder or URL of the target
	// ProgressKey is the key of the progress record; empty for none.
	ProgressKey string
	Concurrency int32 // 0 is the default
	PartMiB     int32 // 0 is the default
	Include     []string
	Exclude     []string
	// Token is the key of a Secret with the hub's token; nil for none.
	Token *corev1.SecretKeySelector
	// Reload identifies a request to download files again that the target has.
	Reload string
	// Owner is the object that the folder belongs to; empty if files have no owner.
	Owner string
}

// Container returns the container of the download, with the token by reference.
func (f Fetch) Container() workload.Container {
	args := []string{"fetch", "--from=" + f.From.String(), "--to=" + f.To}
	if f.ProgressKey != "" {
		args = append(args, "--progress-key="+f.ProgressKey)
	}
	if f.Concurrency > 0 {
		args = append(args, "--concurrency="+strconv.Itoa(int(f.Concurrency)))
	}
	if f.PartMiB > 0 {
		args = append(args, "--part-size="+strconv.Itoa(int(f.PartMiB)))
	}
	for _, pattern := range f.Include {
		args = append(args, "--include="+pattern)
	}
	for _, pattern := range f.Exclude {
		args = append(args, "--exclude="+pattern)
	}
	if f.Reload != "" {
		args = append(args, "--reload="+f.Reload)
	}
	if f.Owner != "" {
		args = append(args, "--owner="+f.Owner)
	}
	secrets := map[string]corev1.SecretKeySelector{}
	if f.Token != nil {
		if f.From.Endpoint != "" { // the spec names both, so the token is for that hub
			args = append(args, "--token-endpoint="+f.From.Endpoint)
		}
		secrets[names.EnvHFToken] = *f.Token
	}
	most := memory.Fetch(f.Concurrency, f.PartMiB)
	return workload.Container{Args: args, SecretEnv: secrets, Memory: most, Request: most}
}
