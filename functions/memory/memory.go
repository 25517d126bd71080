// Package memory computes how much memory Koldun's own containers need at most, from the
// settings that bound what they hold.
package memory

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

const (
	mebibyte = 1 << 20
	// base is what a Job takes beside its data, and server what a process that serves
	// requests does: code, stacks, connections, the registry and spare garbage.
	base, server = 64 * mebibyte, 128 * mebibyte

	// copies of a body while a gateway or a sidecar holds it: as it came, as it is queued, and
	// as it is sent on.
	copies = 3
	// perConnection is what a gateway takes for a connection that waits for its client, with
	// the largest header, and perSocket for a WebSocket.
	perConnection, perSocket = 48 << 10, 64 << 10
	// perStream is what a gateway takes for an open request, see docs/background/performance.md.
	perStream = 32 << 10
	// perRequest is what a dispatcher takes for an open request beside its body.
	perRequest = 4 << 10
	// perAnswer is what a sidecar keeps of an answer to send it again.
	perAnswer = 4 * mebibyte
	// embeddings is the largest answer with embeddings, which is read as a whole.
	embeddings = 64 * mebibyte
	// answered is what a sidecar keeps of answers that have ended.
	answered = 8 * mebibyte

	usualConnections, usualPart = 8, 8 // parts in MiB
)

// UsualBodies is what the bodies that a gateway reads may take by default.
const UsualBodies = 64 * mebibyte

// Gateway returns the memory of a gateway that reads bodies of so many bytes at a time, and
// has all requests of a full queue open. It parses few bodies at a time. Without a bound of the bodies there is none.
func Gateway(bodies int64) int64 {
	if bodies <= 0 {
		return 0
	}
	return server + copies*bodies + openai.Parsed*names.ParsedBytes + names.RequestMaxCount*perStream +
		names.WaitingConnections*perConnection + names.Sockets*perSocket
}

// Dispatcher returns the memory of a dispatcher, which holds all requests of a queue of
// so many bytes; 0 is the usual size. A quarter is garbage.
func Dispatcher(queue int64) int64 {
	queue = cmp.Or(queue, names.RequestMaxBytes)
	return server + queue + queue/4 + names.RequestMaxCount*perRequest
}

// Sidecar returns the memory of the sidecar of an engine with so many slots, which may be a
// server that sends embeddings.
func Sidecar(slots int, embeds bool) int64 {
	out := server + answered + int64(max(slots, 1))*(copies*names.RequestMaxSize+perAnswer)
	if embeds {
		out += 2 * embeddings
	}
	return out
}

// Fetch returns the memory of a download over so many connections with parts of so many
// MiB; 0 is the usual number. A part is in memory twice: received, and on its way.
func Fetch(connections, part int32) int64 {
	return base + 2*int64(cmp.Or(connections, usualConnections))*int64(cmp.Or(part, usualPart))*mebibyte
}

// Connections returns how many connections with parts of the usual size a download may
// have in so much memory: one at least.
func Connections(bytes int64) int32 {
	const each = 2 * usualPart * mebibyte
	return int32(min(max(1, (bytes-base)/each), 1<<10))
}

// Convert returns the memory of a conversion, or of an inspection of files of any size.
func Convert() int64 { return 256 * mebibyte }

// Complete returns the resources of a claim with a limit of memory: that of the claim, else
// the computed one, which 0 leaves out. A claim that requests more gets that. A request
// that the claim leaves out is the given one, or the limit if that is less.
func Complete(claimed corev1.ResourceRequirements, limit, request int64) corev1.ResourceRequirements {
	out := *claimed.DeepCopy()
	if limit <= 0 {
		return out
	}
	if out.Limits.Memory().IsZero() {
		limit = (limit + mebibyte - 1) / mebibyte * mebibyte // short and canonical
		set(&out.Limits, max(limit, out.Requests.Memory().Value()))
	}
	if out.Requests.Memory().IsZero() {
		set(&out.Requests, min(request, out.Limits.Memory().Value()))
	}
	return out
}

// Usual is what a process that serves requests asks of its node: it takes more for the
// load only.
const Usual = base

func set(list *corev1.ResourceList, bytes int64) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[corev1.ResourceMemory] = *resource.NewQuantity(bytes, resource.BinarySI)
}

// EnvGoLimit is the variable by which Go collects garbage before a limit is reached.
const EnvGoLimit = "GOMEMLIMIT"

// GoLimit returns the value of GOMEMLIMIT for a container with resources: nine tenths of
// its limit. The rest is for what Go does not manage. It is empty if there is no limit.
func GoLimit(r corev1.ResourceRequirements) string {
	limit := r.Limits.Memory().Value()
	if limit <= 0 {
		return ""
	}
	return fmt.Sprintf("%dKiB", limit/10*9>>10)
}
