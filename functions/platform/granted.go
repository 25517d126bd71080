package platform

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// granted are the fields that need a grant.
func granted() []Row {
	return append(reserved(), byKinds()...)
}

// reserved are the fields whose values the table decides about.
func reserved() []Row {
	privilege := func(name, reach string, is func(any) bool, fields ...string) Row {
		return Row{Fields: fields, Reach: reach, Grant: "privileges", Privilege: name, needs: func(v any) []string {
			if is(v) {
				return []string{name}
			}
			return nil
		}}
	}
	const contexts = "**.podSecurityContext|securityContext."
	return []Row{
		{Fields: []string{"**.annotations|podAnnotations"}, Grant: "annotations", keyed: true, needs: annotations,
			Reach: "controllers that read annotations: configuration of ingress controllers and load balancers, identities of clouds, networks and profiles of pods"},
		{Fields: []string{"**.route.host", "**.ingress.hosts.host", "**.tls.hosts", "spec.endpoint.domain"}, Grant: "hosts", needs: values(""),
			Reach: "names of the cluster's entry points, and their certificates"},
		{Fields: []string{"**.service.type"}, Grant: "serviceTypes", needs: values("", "ClusterIP"), Reach: "ports of all nodes, addresses of the cloud"},
		{Fields: []string{"**.serviceAccountName", "spec.serviceAccount.name"}, Grant: "serviceAccounts", needs: values(""),
			Reach: "rights of the ServiceAccount, and the identity that a cloud gives it"},
		{Fields: []string{"**.priorityClassName"}, Grant: "priorityClasses", needs: values(""), Reach: "room of pods of other namespaces, which the scheduler ends"},
		{Fields: []string{"**.runtimeClassName"}, Grant: "runtimeClasses", needs: values("", "none", "nvidia"), Reach: "isolation of the container, and the taints that the class tolerates"},
		{Fields: []string{"**.tolerations"}, Grant: "tolerations", needs: tolerated, Reach: "nodes that a taint keeps for others"},
		{Fields: []string{"**.nodeSelector"}, Grant: "nodeLabels", keyed: true, needs: nodeLabels, Reach: "nodes of the cluster by protected labels; by others the namespace's author chooses"},
		{Fields: []string{"**.nodeAffinity.**.matchExpressions.key"}, Grant: "nodeLabels", needs: func(v any) []string { return nodeLabels(map[string]any{fmt.Sprint(v): nil}) },
			Reach: "as nodeSelector"},
		{Fields: []string{"**.podAffinity|podAntiAffinity.**.namespaces"}, Grant: "affinityNamespaces", needs: values(""), Reach: "nodes that pods of other namespaces run on, or are kept from"},
		{Fields: []string{"**.podAffinity|podAntiAffinity.**.namespaceSelector"}, Grant: "affinityNamespaces", needs: func(any) []string { return []string{"*"} },
			Reach: "nodes that pods of all namespaces run on, or are kept from"},

		privilege("root", "the container's root user", is("0"), "**.runAsUser|runAsGroup"),
		privilege("privileged", "devices and memory of the node", is("true"), contexts+"privileged"),
		privilege("escalation", "more rights than the container starts with", is("true"), contexts+"allowPrivilegeEscalation"),
		privilege("capabilities", "parts of the rights of the node's root user", any1, contexts+"capabilities.add"),
		privilege("procMount", "the node's /proc", not("Default"), contexts+"procMount"),
		privilege("unconfined", "system calls and files that the container's profile refuses", not("RuntimeDefault"), contexts+"seccompProfile|appArmorProfile.type"),
		privilege("unconfined", "profiles of the node", any1, contexts+"seccompProfile|appArmorProfile.localhostProfile"),
		privilege("seLinux", "files of other containers and of the node", any1, contexts+"seLinuxOptions"),
		privilege("sysctls", "settings of the node's kernel", any1, contexts+"sysctls"),
		privilege("windows", "the node, and credentials of its domain", any1, contexts+"windowsOptions"),
		privilege("hostPath", "files and sockets of the node", any1, "**.volumes|modelsVolume.hostPath"),
		privilege("nfs", "servers that trust the nodes", any1, "**.volumes|modelsVolume.nfs"),
		privilege("mountPropagation", "mounts of the node", not("None"), "**.volumeMounts.mountPropagation"),
		privilege("hostProbes", "any address that the kubelet of the node reaches", any1, "**.livenessProbe|readinessProbe|startupProbe.httpGet|tcpSocket.host"),
		privilege("serviceAccountToken", "the API server with the rights of the ServiceAccount", is("true"), "spec.serviceAccount.automount"),
		privilege("noNetworkPolicy", "all addresses that pods reach, such as the node's credentials of the cloud", is("Disabled"), "**.networkPolicy"),
	}
}

// byKinds are the fields that the functions of the kinds decide about, each by a Use.
func byKinds() []Row {
	return []Row{
		{Fields: []string{"**.rootImage|workerImage|dispatcherImage", "spec.image", "spec.expose|backend.image", "**.image.repository|tag",
			"spec.engine.options.imageRepository|imageTag"},
			Grant: "images", Reach: "code in pods of the namespace, some with connections"},
		{Fields: []string{"**.engine.extraArgs", "spec.expose|backend.extraArgs", "spec.args"}, Kinds: []string{"Dllama", "Ingress", "Session", "ModelOrchestra", "Root", "Worker"},
			Grant: "extraArgs", Reach: "any argument of gateways and engines, also of versions to come"},
		{Fields: []string{"**.limits.tokensMayExceed"}, Grant: "tokensMayExceed", Reach: "more than the limits of the gateway, by records of tokens"},
		{Fields: []string{"spec.deployment.template"}, Kinds: []string{"AIDeployment"}, Grant: "podTemplates", Reach: "all that a pod of Kubernetes may ask for: network, paths and privileges of the host"},
		{Fields: []string{"**.pv.csiDriver"}, Grant: "csiDrivers", Reach: "programs on the nodes, in the package for claims"},
		{Fields: []string{"**.pv.csiSecretName|csiSecretNamespace"}, Grant: "csiSecrets", Reach: "a Secret of any namespace, and the buckets that it opens"},
		{Fields: []string{"**.pv.volumeAttributes|csiMounter|csiOptions"}, Grant: "csiAttributes", Reach: "arguments of programs on the nodes"},
	}
}

// values returns a field's value, unless it is one of those that need no grant.
func values(harmless ...string) func(any) []string {
	return func(v any) []string {
		if s := fmt.Sprint(v); !slices.Contains(harmless, s) {
			return []string{s}
		}
		return nil
	}
}

func is(value string) func(any) bool  { return func(v any) bool { return fmt.Sprint(v) == value } }
func not(value string) func(any) bool { return func(v any) bool { return fmt.Sprint(v) != value } }
func any1(any) bool                   { return true }

// annotations returns the names that are not harmless: that are of a controller, but for those
// that only describe an object, and the usual times and sizes of an ingress controller.
func annotations(v any) []string {
	all, _ := v.(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		domain, rest, found := strings.Cut(name, "/")
		switch {
		case !found:
			return !strings.Contains(name, ".")
		case domain == "nginx.ingress.kubernetes.io":
			harmless := []string{"proxy-body-size", "proxy-buffering", "proxy-connect-timeout", "proxy-read-timeout", "proxy-send-timeout"}
			return slices.Contains(harmless, rest) && plainValue.MatchString(fmt.Sprint(all[name]))
		}
		return slices.Contains([]string{"app.kubernetes.io", "prometheus.io", "kubectl.kubernetes.io"}, domain)
	})
}

// plainValue is a switch, a number or a size: nothing that a template turns into configuration.
var plainValue = regexp.MustCompile(`^(on|off|[0-9]{1,9}[kmgsh]?)$`)

// tolerated returns the key of the taint, unless all pods tolerate it for a time.
func tolerated(v any) []string {
	t, _ := v.(map[string]any)
	key, _ := t["key"].(string)
	switch key {
	case "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable":
		return nil
	case "":
		return []string{"*"}
	}
	return []string{key}
}

// nodeLabels returns the labels that tell kinds of nodes apart and that no kubelet may give itself.
func nodeLabels(v any) []string {
	all, _ := v.(map[string]any)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		domain, _, _ := strings.Cut(name, "/")
		return !strings.HasSuffix(domain, "node-restriction.kubernetes.io") && domain != "node-role.kubernetes.io"
	})
}
