package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const (
	bridge = "koldun0"
	// podAddresses are the addresses of pods.
	podAddresses = "10.244.0.0/24"
	// policyQueue is the number of the netfilter queue of kube-network-policies.
	policyQueue = "100"
)

// setUpNetwork makes the device with the address of the node, and leads the first packet of
// each connection to and from a pod to kube-network-policies, when the address of a Service
// has become that of a pod. Packets between pods pass too, because those of a bridge are
// filtered as well; those of the node itself, such as probes of the kubelet, do not. It
// refuses to change the network of the machine.
func setUpNetwork(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, "ip", "-o", "route").CombinedOutput(); err != nil || len(out) > 0 {
		return errors.New("cannot run a node in the network of this machine: run make e2e, which makes a namespace")
	}
	for name, value := range map[string]string{
		"net/ipv4/ip_forward":                "1",
		"net/bridge/bridge-nf-call-iptables": "1",
	} {
		if err := os.WriteFile("/proc/sys/"+name, []byte(value), 0o600); err != nil {
			return fmt.Errorf("cannot set %s: %w", name, err)
		}
	}
	decide := " -m conntrack --ctstate NEW -j NFQUEUE --queue-num " + policyQueue
	for _, command := range []string{
		"mount --make-rshared /", // the kubelet passes mounts on
		"ip link set lo up",
		"ip link add " + bridge + " type bridge",
		"ip address add " + Address + "/24 dev " + bridge,
		"ip link set " + bridge + " up",
		"ip route add default dev " + bridge, // programs ask for the device of the default route
		"iptables -t mangle -A FORWARD -s " + podAddresses + decide,
		"iptables -t mangle -A FORWARD ! -s " + podAddresses + " -d " + podAddresses + decide,
		"iptables -t mangle -A INPUT -s " + podAddresses + decide,
	} {
		if err := run(ctx, strings.Fields(command)...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a program of the machine.
func run(ctx context.Context, command ...string) error {
	if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run %q: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
