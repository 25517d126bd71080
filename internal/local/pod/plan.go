package pod

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// loopback is the address of every pod.
const loopback = "127.0.0.1"

// A Place is the identity and the folders of a pod.
type Place struct {
	Namespace string
	Name      string
	Dir       string // folder of the pod, removed with it
	ClaimsDir string // folder of the namespace's volume claims, kept
	Env       []string
	// Lookup returns the data of a Secret or ConfigMap of the namespace.
	Lookup func(kind, name string) (map[string][]byte, bool)
	// Address returns the local address of a port of a StatefulSet's pod, by which
	// arguments name it as POD.SERVICE.NAMESPACE.svc:PORT. If it is nil, they keep
	// the name.
	Address func(namespace, pod string, port int) (string, error)
	// Login may change the variables of a process, whose arguments are nil if its
	// program is another than the machine's binary, and returns the credentials file
	// for NATS that only this process gets, or nil. If it is nil, processes keep
	// what their Secrets hold.
	Login func(args []string, vars map[string]string) (credentials []byte, err error)
}

// A Plan is a pod with all references and defaults resolved.
type Plan struct {
	Place
	Inits      []Process
	Containers []Process
	Folders    []string          // created before a process starts
	Files      map[string][]byte // written before a process starts; secret
	Grace      time.Duration     // from the pod's spec, or 0
	Ports      map[string]int    // by name

	numbers map[int]string // names of ports by their number in the spec
}

// A Process is one container.
type Process struct {
	Name      string
	Path      string // of the program; "" is the machine's binary
	Args      []string
	Env       []string
	Startup   *Check
	Readiness *Check
	Liveness  *Check
}

// A Check is a probe with a resolved port.
type Check struct {
	URL       string
	Delay     time.Duration
	Period    time.Duration
	Timeout   time.Duration
	Threshold int
}

// Port returns the local port for the targetPort of a Service, or the number of a
// probe's port.
func (p *Plan) Port(target NameOrPort) (int, bool) {
	name := target.Name
	if name == "" {
		var named bool
		if name, named = p.numbers[target.Number]; !named {
			return target.Number, target.Number > 0
		}
	}
	port, ok := p.Ports[name]
	return port, ok
}

func ownCommand(command []string) bool {
	return len(command) == 0 || len(command) == 1 && (command[0] == "koldun" || command[0] == "/koldun")
}

// Resolve plans a pod with ports from Ports.For. A NotFound error names a missing
// Secret, ConfigMap or key.
func Resolve(s Spec, at Place, ports map[string]int) (*Plan, error) {
	p := &Plan{Place: at, Folders: []string{at.Dir}, Files: map[string][]byte{}, Ports: ports, numbers: map[int]string{}}
	if s.TerminationGracePeriodSeconds != nil {
		p.Grace = time.Duration(*s.TerminationGracePeriodSeconds) * time.Second
	}
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		for _, cp := range c.Ports {
			if cp.Name != "" {
				p.numbers[cp.ContainerPort] = cp.Name
			}
		}
	}
	given := map[string]string{}
	for name, port := range ports {
		given[names.PortEnv(name)] = strconv.Itoa(port)
	}
	dirs := map[string]string{}
	for _, v := range s.Volumes {
		dir, err := p.addVolume(v)
		if err != nil {
			return nil, err
		}
		dirs[v.Name] = dir
	}
	for _, c := range s.InitContainers {
		proc, err := p.process(c, given, dirs)
		if err != nil {
			return nil, err
		}
		p.Inits = append(p.Inits, proc)
	}
	for _, c := range s.Containers {
		proc, err := p.process(c, given, dirs)
		if err != nil {
			return nil, err
		}
		p.Containers = append(p.Containers, proc)
	}
	return p, nil
}

// process plans one container. Variables in given override its own.
func (p *Plan) process(c Container, given, dirs map[string]string) (Process, error) {
	given = maps.Clone(given)
	for _, m := range c.VolumeMounts {
		dir, ok := dirs[m.Name]
		if !ok {
			return Process{}, fault.Errorf(fault.Invalid, "container %q mounts volume %q, which the pod does not have", c.Name, m.Name)
		}
		if m.SubPath != "" {
			if !filepath.IsLocal(m.SubPath) {
				return Process{}, fault.Errorf(fault.Invalid, "container %q: subPath %q leads out of the volume", c.Name, m.SubPath)
			}
			dir = filepath.Join(dir, m.SubPath)
			p.Folders = append(p.Folders, dir)
		}
		given[names.DirEnv(m.Name)] = dir
	}
	if slices.ContainsFunc(c.Env, func(v EnvVar) bool { return v.Name == names.EnvEngineHost }) {
		given[names.EnvEngineHost] = loopback // only processes of this machine connect
	}
	vars, err := p.environment(c, given)
	if err != nil {
		return Process{}, err
	}
	proc := Process{Name: c.Name, Env: slices.Clone(p.Env)}
	command := c.Command
	if !ownCommand(command) {
		proc.Path, command = expand(command[0], vars), command[1:]
	} else {
		command = nil
	}
	for _, arg := range slices.Concat(command, c.Args) {
		found, err := p.resolveAddresses(expand(arg, vars))
		if err != nil {
			return Process{}, err
		}
		proc.Args = append(proc.Args, found)
	}
	if err := p.login(proc, vars); err != nil {
		return Process{}, fmt.Errorf("container %q: %w", c.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		proc.Env = append(proc.Env, name+"="+vars[name])
	}
	for _, probe := range []struct {
		spec *Probe
		into **Check
	}{{c.StartupProbe, &proc.Startup}, {c.ReadinessProbe, &proc.Readiness}, {c.LivenessProbe, &proc.Liveness}} {
		if *probe.into, err = p.check(c, probe.spec); err != nil {
			return Process{}, err
		}
	}
	return proc, nil
}

// login gives a process its credentials for NATS.
func (p *Plan) login(proc Process, vars map[string]string) error {
	if p.Login == nil {
		return nil
	}
	args := proc.Args
	if proc.Path != "" {
		args = nil
	}
	credentials, err := p.Login(args, vars)
	if err != nil || credentials == nil {
		return err
	}
	file := filepath.Join(p.Dir, "nats", proc.Name+".creds")
	p.Files[file] = credentials
	vars[names.EnvNATSCreds] = file
	return nil
}

func (p *Plan) check(c Container, probe *Probe) (*Check, error) {
	if probe == nil {
		return nil, nil //nolint:nilnil // no probe, no check
	}
	if probe.HTTPGet == nil {
		return nil, fault.Errorf(fault.Unsupported, "container %q has a probe that is not httpGet", c.Name)
	}
	target := probe.HTTPGet.Port
	port, ok := p.Port(target)
	// As a kubelet does, which does not look at the other containers.
	if target.Name != "" && !slices.ContainsFunc(c.Ports, func(own ContainerPort) bool { return own.Name == target.Name }) {
		ok = false
	}
	if !ok {
		return nil, fault.Errorf(fault.Invalid, "container %q has a probe of port %q, which the container does not declare", c.Name, target.Name)
	}
	path := "/" + strings.TrimPrefix(probe.HTTPGet.Path, "/")
	return &Check{
		URL:       "http://" + loopback + ":" + strconv.Itoa(port) + path,
		Delay:     time.Duration(max(0, probe.InitialDelaySeconds)) * time.Second,
		Period:    probe.period(),
		Timeout:   probe.timeout(),
		Threshold: probe.threshold(),
	}, nil
}
