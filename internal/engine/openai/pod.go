package openai

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// A worker's rank is its number, which its StatefulSet writes to a label.
const (
	envRank   = "KOLDUN_RANK"
	fieldRank = "metadata.labels['apps.kubernetes.io/pod-index']"
)

// root returns the pod of the node that serves. One outside the pods has none.
func (s server) root(r engine.Root) engine.Pod {
	if s.claim.External() {
		return engine.Pod{Ports: map[string]int32{}}
	}
	start := s.profile.Start(s.launch(r.Node, r.ModelFile, r.SeqLen, r.Nodes, "0", r.Leader))
	pod := s.pod(r.Node, r.Nodes, start)
	pod.Main.Startup = cmp.Or(s.claim.Startup, startup(r.ModelSize))
	return pod
}

// worker returns the pod of a node that computes for the root.
func (s server) worker(w engine.Worker) engine.Pod {
	start := s.profile.Start(s.launch(w.Node, w.ModelFile, w.SeqLen, w.Nodes, "$("+envRank+")", w.Leader))
	pod := s.pod(w.Node, w.Nodes, start)
	if pod.Main.Fields == nil {
		pod.Main.Fields = map[string]string{}
	}
	pod.Main.Fields[envRank] = fieldRank
	return pod
}

func (s server) launch(n engine.Node, path string, seqLen int32, nodes int, rank, leader string) profile.Launch {
	l := profile.Launch{
		Model:      s.model(path),
		Downloads:  s.claim.Downloads,
		ServedName: s.servedName(path, n.Model),
		Port:       names.PortRef(engine.PortEngine),
		SeqLen:     int(seqLen),
		Slots:      s.slots(),
		GPUs:       int(n.GPUs),
		Nodes:      nodes,
		Rank:       rank,
		Leader:     leader,
	}
	if n.Threads > 1 {
		l.Threads = int(n.Threads)
	}
	return l
}

func (s server) pod(n engine.Node, nodes int, start profile.Start) engine.Pod {
	pod := engine.Pod{
		Main: engine.Container{
			Name:    "engine",
			Image:   n.Image,
			Command: start.Command,
			Args:    slices.Concat(start.Args, s.claim.Args),
			Env:     start.Env,
			Fields:  start.Fields,
			User:    s.claim.User,
		},
		Folders: map[string]string{engine.VolumeCache: profile.Cache, "tmp": profile.Temporary},
		Ports:   map[string]int32{engine.PortEngine: cmp.Or(s.claim.Port, engine.EngineNumber)},
	}
	if len(s.claim.Command) > 0 {
		pod.Main.Command = s.claim.Command
	}
	for i, folder := range s.claim.Writable {
		pod.Folders[fmt.Sprintf("writable-%d", i)] = folder
	}
	shared := s.claim.SharedMemory
	if shared == "" && s.profile.SharedMemory != nil {
		shared = s.profile.SharedMemory(n.GPUs * int64(max(nodes, 1)))
	}
	if shared != "" {
		pod.Folders["shm"], pod.Memory = "/dev/shm", map[string]string{"shm": shared}
	}
	if start.Prepare != "" {
		pod.Init = []engine.Container{{
			Name: "prepare", Image: n.Image, Command: []string{"/bin/sh", "-c", start.Prepare}, Env: start.Env, User: s.claim.User,
		}}
	}
	return pod
}

// A server that does not know the size of its model downloads it too.
const (
	startupLeast      = 15 * time.Minute
	startupDownload   = 2 * time.Hour
	startupBytesPerMs = 32 << 10 // 32 MiB a second
)

// startup is how long a server may take to read and compile a model of that size.
func startup(size int64) time.Duration {
	if size == 0 {
		return startupDownload
	}
	return (startupLeast + time.Duration(size/startupBytesPerMs)*time.Millisecond).Truncate(time.Minute)
}
