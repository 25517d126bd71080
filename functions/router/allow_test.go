package router_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/internal/engine/images"
)

// closed answers a claim as a platform with rules does; without rules there are none.
func closed(t *testing.T, xr, rules string, observed state) *fnv1.RunFunctionResponse {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: object(t, xr), Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{"platform": {}, "connections": {}},
	}
	if rules != "" {
		req.RequiredResources["platform"].Items = []*fnv1.Resource{object(t, "apiVersion: apiextensions.crossplane.io/v1beta1\nkind: EnvironmentConfig\nmetadata: {name: koldun-platform}\ndata: "+rules)}
	}
	for name, manifest := range observed {
		req.Observed.Resources[name] = object(t, manifest)
	}
	rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return rsp
}

// notAllowedFor is why a claim may not use something; empty if it may.
func notAllowedFor(rsp *fnv1.RunFunctionResponse) string {
	for _, c := range rsp.GetConditions() {
		if c.GetType() == "Serving" && c.GetReason() == string(reason.NotAllowed) {
			return c.GetMessage()
		}
	}
	return ""
}

// reserved are claims that use what is the platform's, and the line that allows it.
func reserved() map[string]struct{ claim, field, grant string } {
	const pv = "apiVersion: koldun.gorizond.io/v1\nkind: XModel\nmetadata: {name: m-abcde}\nspec: {claimRef: {namespace: ns, name: m}, sourceUrl: hf://a/b, pv: "
	const usual = "csiDrivers: [ru.yandex.s3.csi], csiSecrets: [kube-system/csi-s3-secret]"
	orchestrated := orchestra + "spec: {applications: {a: {readerConfig: {modelName: a/b}, image: {repository: evil/x}}}}\n"
	return map[string]struct{ claim, field, grant string }{
		"Gateway":          {ingress0 + "spec: {backend: {image: 'evil/x:1'}}\n", "spec.backend.image", "gatewayImages: [evil/x]"},
		"Dispatcher":       {ingress0 + "spec: {backend: {dispatcherImage: 'evil/x:1'}}\n", "spec.backend.dispatcherImage", "gatewayImages: [evil/x]"},
		"GatewayArgs":      {ingress0 + "spec: {backend: {extraArgs: [--namespaces=victim]}}\n", "spec.backend.extraArgs", "extraArgs: true"},
		"PoolRoots":        {ingress0 + "spec: {backend: {rootImage: 'evil/x:1'}}\n", "spec.backend.rootImage", "images: [evil/x]"},
		"PoolWorkers":      {ingress0 + "spec: {backend: {workerImage: 'evil/x:1'}}\n", "spec.backend.workerImage", "images: [evil/x]"},
		"PoolArgs":         {ingress0 + "spec: {backend: {engine: {extraArgs: [--x]}}}\n", "spec.backend.engine.extraArgs", "extraArgs: true"},
		"Root":             {dllama + "spec: {modelRef: {name: m}, rootImage: evil/x}\n", "spec.rootImage", "images: [evil/x]"},
		"Digest":           {dllama + "spec: {modelRef: {name: m}, rootImage: 'evil/x@sha256:00'}\n", "spec.rootImage", "images: [evil/x]"},
		"OtherVersion":     {dllama + "spec: {modelRef: {name: m}, rootImage: 'vllm/vllm-openai:v0.1.0'}\n", "spec.rootImage", "images: [vllm/vllm-openai]"},
		"NewestVersion":    {dllama + "spec: {modelRef: {name: m}, workerImage: ollama/ollama, nodes: 2}\n", "spec.workerImage", "images: [ollama/ollama]"},
		"OtherTag":         {aideployment("engine: {name: vllm, options: {imageTag: v0.1.0}}, models: [{uri: a/b}]"), "spec.engine.options", "images: [vllm/vllm-openai]"},
		"TagOfTakeoff":     {orchestra + "spec: {gateway: {image: {tag: latest}}}\n", "spec.gateway.image", "images: [tytn/takeoff-pro]"},
		"OwnLookalike":     {dllama + "spec: {modelRef: {name: m}, rootImage: 'ghcr.io/gorizond/koldun-evil:1'}\n", "spec.rootImage", "images: [ghcr.io/gorizond/koldun-evil]"},
		"OwnElsewhere":     {dllama + "spec: {modelRef: {name: m}, rootImage: 'evil.io/ghcr.io/gorizond/koldun:1'}\n", "spec.rootImage", "images: [evil.io]"},
		"Workers":          {dllama + "spec: {nodes: 2, modelRef: {name: m}, workerImage: evil/x}\n", "spec.workerImage", "images: [evil/]"},
		"EngineArgs":       {dllama + "spec: {modelRef: {name: m}, engine: {extraArgs: [--x]}}\n", "spec.engine.extraArgs", "extraArgs: true"},
		"Expose":           {dllama + "spec: {modelRef: {name: m}, expose: {image: evil/x}}\n", "spec.expose.image", "gatewayImages: [evil/x]"},
		"ExposeDispatcher": {dllama + "spec: {modelRef: {name: m}, expose: {dispatcherImage: evil/x}}\n", "spec.expose.dispatcherImage", "gatewayImages: [evil/x]"},
		"ExposeArgs":       {dllama + "spec: {modelRef: {name: m}, expose: {extraArgs: [--x]}}\n", "spec.expose.extraArgs", "extraArgs: true"},
		"Session":          {session + "spec: {modelRef: {name: m}, dispatcherImage: evil/x}\n", "spec.dispatcherImage", "gatewayImages: [evil/x]"},
		"SessionRoots":     {session + "spec: {modelRef: {name: m}, rootImage: evil/x}\n", "spec.rootImage", "images: [evil/x]"},
		"SessionArgs":      {session + "spec: {modelRef: {name: m}, engine: {extraArgs: [--x]}}\n", "spec.engine.extraArgs", "extraArgs: true"},
		"LoneRoot":         {root + "spec: {modelRef: c, modelFile: m, tokenizerFile: t, image: evil/x}\n", "spec.image", "images: [evil/x]"},
		"LoneRootArgs":     {root + "spec: {modelRef: c, modelFile: m, tokenizerFile: t, args: [--x]}\n", "spec.args", "extraArgs: true"},
		"LoneWorker":       {worker + "spec: {image: evil/x}\n", "spec.image", "images: [evil/x]"},
		"LoneWorkerArgs":   {worker + "spec: {args: [--x]}\n", "spec.args", "extraArgs: true"},
		"Volume":           {pv + "{}}\n", "spec.pv.csiDriver", usual},
		"ForeignDriver":    {pv + "{csiDriver: nfs.csi.k8s.io}}\n", "spec.pv.csiDriver", "csiDrivers: [nfs.csi.k8s.io], csiSecrets: [kube-system/csi-s3-secret]"},
		"ForeignSecret":    {pv + "{csiSecretNamespace: victim, csiSecretName: keys}}\n", "spec.pv.csi", "csiDrivers: [ru.yandex.s3.csi], csiSecrets: [victim/keys]"},
		"ForeignServer":    {pv + "{volumeAttributes: {server: evil.example}}}\n", "spec.pv.", usual + ", csiAttributes: [server]"},
		"MountOptions":     {pv + "{csiMounter: geesefs, csiOptions: '--endpoint=http://evil'}}\n", "spec.pv.", usual + ", csiAttributes: [mounter, options]"},
		"Deployment":       {aideployment("engine: {name: vllm, options: {imageRepository: evil/x}}, models: [{uri: a/b}]"), "spec.engine.options", "images: [evil/x]"},
		"PodTemplate":      {aideployment("engine: {name: vllm}, models: [{uri: a/b}], deployment: {template: {spec: {hostNetwork: true}}}"), "spec.deployment.template", "podTemplates: true"},
		"Reader":           {orchestrated, "spec.applications.a.image.repository", "images: [evil/x]"},
		"OrchestraGateway": {orchestra + "spec: {gateway: {image: {repository: evil/x}}}\n", "spec.gateway.image.repository", "images: [evil/x]"},
	}
}

// deputies are claims that would reach, by the Function's rights, what their authors may not.
func deputies() map[string]struct{ claim, field, grant string } {
	const download = "apiVersion: koldun.gorizond.io/v1\nkind: ModelDownload\nmetadata: {name: l, namespace: ns}\n"
	server := func(fields string) string {
		return dllama + "spec: {engine: {server: {profile: vllm, source: download, model: a/b, " + fields + "}}}\n"
	}
	scheduling := func(fields string) string {
		return dllama + "spec: {modelRef: {name: m}, scheduling: {" + fields + "}}\n"
	}
	pod := func(fields string) string {
		return orchestra + "spec: {applicationTemplate: {" + fields + "}, applications: {a: {readerConfig: {modelName: a/b}}}}\n"
	}
	affinity := func(fields string) string {
		return scheduling("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, " + fields + "}]}}")
	}
	return map[string]struct{ claim, field, grant string }{
		"Snippet":          {ingress0 + "spec: {route: {host: '', annotations: {nginx.ingress.kubernetes.io/server-snippet: x}}}\n", `spec.route.annotations["nginx`, "annotations: ['nginx.ingress.kubernetes.io/*']"},
		"AuthURL":          {ingress0 + "spec: {route: {host: '', annotations: {nginx.ingress.kubernetes.io/auth-url: 'http://victim'}}}\n", "spec.route.annotations", "annotations: [nginx.ingress.kubernetes.io/auth-url]"},
		"SnippetInAValue":  {ingress0 + "spec: {route: {host: '', annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: '1; }'}}}\n", "spec.route.annotations", "annotations: ['nginx.ingress.kubernetes.io/*']"},
		"ServiceAnnotated": {ingress0 + "spec: {service: {annotations: {external-dns.alpha.kubernetes.io/hostname: bank.example}}}\n", "spec.service.annotations", "annotations: ['external-dns.alpha.kubernetes.io/*']"},
		"Host":             {ingress0 + "spec: {route: {host: bank.example}}\n", "spec.route.host", "hosts: [bank.example]"},
		"ExposedHost":      {dllama + "spec: {modelRef: {name: m}, expose: {route: {host: bank.example}}}\n", "spec.expose.route.host", "hosts: ['*.example']"},
		"CertificateHost":  {ingress0 + "spec: {route: {host: '', tls: [{hosts: [bank.example]}]}}\n", "spec.route.tls[0].hosts[0]", "hosts: ['*']"},
		"Domain":           {aideployment("engine: {name: vllm}, models: [{uri: a/b}], endpoint: [{domain: bank.example}]"), "spec.endpoint[0].domain", "hosts: [bank.example]"},
		"LoadBalancer":     {ingress0 + "spec: {service: {type: LoadBalancer}}\n", "spec.service.type", "serviceTypes: [LoadBalancer]"},
		"NodePort":         {aideployment("engine: {name: vllm}, models: [{uri: a/b}], service: {type: NodePort}"), "spec.service.type", "serviceTypes: [NodePort]"},
		"PriorityClass":    {scheduling("priorityClassName: system-node-critical"), "spec.scheduling.priorityClassName", "priorityClasses: [system-node-critical]"},
		"Tolerations":      {scheduling("tolerations: [{operator: Exists}]"), "spec.scheduling.tolerations[0]", "tolerations: ['*']"},
		"ControlPlane":     {scheduling("tolerations: [{key: node-role.kubernetes.io/control-plane}]"), "spec.scheduling.tolerations[0]", "tolerations: ['node-role.kubernetes.io/*']"},
		"Identity":         {scheduling("serviceAccountName: victim"), "spec.scheduling.serviceAccountName", "serviceAccounts: [victim]"},
		"GatewayIdentity":  {ingress0 + "spec: {backend: {backendScheduling: {serviceAccountName: victim}}}\n", "spec.backend.backendScheduling.serviceAccountName", "serviceAccounts: [victim]"},
		"JobIdentity":      {model + "spec: {sourceUrl: hf://a/b, scheduling: {serviceAccountName: victim}}\n", "spec.scheduling.serviceAccountName", "serviceAccounts: [victim]"},
		"DownloadIdentity": {download + "spec: {storagePVC: p, models: [{name: a/b}], scheduling: {serviceAccountName: victim}}\n", "spec.scheduling.serviceAccountName", "serviceAccounts: [victim]"},
		"RuntimeClass":     {scheduling("runtimeClassName: without-sandbox"), "spec.scheduling.runtimeClassName", "runtimeClasses: [without-sandbox]"},
		"ProtectedNodes":   {scheduling("nodeSelector: {node-restriction.kubernetes.io/tenant: victim}"), "spec.scheduling.nodeSelector[", "nodeLabels: ['node-restriction.kubernetes.io/*']"},
		"VictimsNodes":     {affinity("namespaces: [victim]"), "spec.scheduling.affinity.podAntiAffinity.", "affinityNamespaces: [victim]"},
		"AllNodes":         {affinity("namespaceSelector: {}"), "spec.scheduling.affinity.podAntiAffinity.", "affinityNamespaces: ['*']"},
		"Root":             {server("runAsUser: 0"), "spec.engine.server.runAsUser", "privileges: [root]"},
		"PodRoot":          {pod("podSecurityContext: {runAsUser: 0}"), "spec.applicationTemplate.podSecurityContext.runAsUser", "privileges: [root]"},
		"Privileged":       {pod("securityContext: {privileged: true}"), "spec.applicationTemplate.securityContext.privileged", "privileges: [privileged]"},
		"Capabilities":     {pod("securityContext: {capabilities: {add: [SYS_ADMIN]}}"), "spec.applicationTemplate.securityContext.capabilities.add", "privileges: [capabilities]"},
		"Unconfined":       {pod("securityContext: {seccompProfile: {type: Unconfined}}"), "spec.applicationTemplate.securityContext.seccompProfile.type", "privileges: [unconfined]"},
		"HostPath":         {pod("volumes: [{name: host, hostPath: {path: /}}]"), "spec.applicationTemplate.volumes[0].hostPath", "privileges: [hostPath]"},
		"ModelsOnTheHost":  {pod("modelsVolume: {hostPath: {path: /}}"), "spec.applicationTemplate.modelsVolume.hostPath", "privileges: [hostPath]"},
		"NFS":              {pod("volumes: [{name: share, nfs: {server: victim, path: /}}]"), "spec.applicationTemplate.volumes[0].nfs", "privileges: [nfs]"},
		"Kubelet":          {pod("livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}"), "spec.applicationTemplate.livenessProbe.httpGet.host", "privileges: [hostProbes]"},
		"CloudIdentity":    {orchestra + "spec: {serviceAccount: {annotations: {eks.amazonaws.com/role-arn: victim}}}\n", "spec.serviceAccount.annotations[", "annotations: ['eks.amazonaws.com/*']"},
		"AccountToken":     {orchestra + "spec: {serviceAccount: {automount: true}}\n", "spec.serviceAccount.automount", "privileges: [serviceAccountToken]"},
		"Metadata":         {dllama + "spec: {modelRef: {name: m}, networkPolicy: Disabled}\n", "spec.networkPolicy", "privileges: [noNetworkPolicy]"},
	}
}

// TestHarmlessFieldsNeedNoRules holds that what a team usually writes goes on without the platform
// team, and that Crossplane is not asked for rules then.
func TestHarmlessFieldsNeedNoRules(t *testing.T) {
	for _, claim := range []string{
		ingress0 + "spec: {service: {type: ClusterIP, annotations: {note: ours, prometheus.io/scrape: 'true'}}}\n",
		ingress0 + "spec: {route: {host: '', annotations: {nginx.ingress.kubernetes.io/proxy-buffering: 'off', nginx.ingress.kubernetes.io/proxy-read-timeout: '3600'}}}\n",
		dllama + "spec: {modelRef: {name: m}, scheduling: {nodeSelector: {nvidia.com/gpu.product: A100}, runtimeClassName: nvidia, tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]}}\n",
		dllama + "spec: {engine: {server: {profile: vllm, source: download, model: a/b, runAsUser: 1000}}}\n",
		orchestra + "spec: {gateway: {podAnnotations: {prometheus.io/port: '1'}, securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true}}}\n",
	} {
		rsp := closed(t, claim, "", nil)
		if refused := notAllowedFor(rsp); refused != "" || rsp.GetRequirements().GetResources()["platform"] != nil {
			t.Errorf("%s: %q", claim, refused)
		}
	}
}

// TestReservedForThePlatform attacks with claims that use what is the platform's: without
// its rules, with those for other namespaces, and with misspelt ones.
func TestReservedForThePlatform(t *testing.T) {
	all := reserved()
	maps.Copy(all, deputies())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			for _, rules := range []string{
				"", "{claims: []}", "{claims: [{namespaces: [other], everything: true}]}", "{claims: [{namespaces: [other], " + c.grant + "}]}",
				"{claims: [{namespace: [ns], everything: true}]}", "{everything: true}",
			} {
				rsp := closed(t, c.claim, rules, nil)
				refused := notAllowedFor(rsp)
				if !strings.HasPrefix(refused, c.field) || !strings.Contains(refused, "namespaces: [ns]") {
					t.Errorf("with %q it says %q: %v %v", rules, refused, rsp.GetConditions(), rsp.GetResults())
				}
				if n := len(rsp.GetDesired().GetResources()); n > 0 {
					t.Errorf("with %q it composes %d objects", rules, n)
				}
			}
			for _, rules := range []string{"{claims: [{everything: true}]}", "{claims: [{namespaces: [other]}, {namespaces: [ns], " + c.grant + "}]}"} {
				if refused := notAllowedFor(closed(t, c.claim, rules, nil)); refused != "" {
					t.Errorf("with %q it says %q", rules, refused)
				}
			}
		})
	}
}

// TestUntilRulesAreKnownNothingIsComposed holds for a Crossplane that has not looked.
func TestUntilRulesAreKnownNothingIsComposed(t *testing.T) {
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: object(t, ingress0+"spec: {backend: {image: evil/x}}\n")}}
	rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	asked := rsp.GetRequirements().GetResources()["platform"]
	if len(rsp.GetDesired().GetResources()) > 0 || notAllowedFor(rsp) == "" || asked.GetMatchName() != "koldun-platform" || asked.GetKind() != "EnvironmentConfig" {
		t.Errorf("it answers %v", rsp)
	}
}

// A serverImage has shells and interpreters.
const serverImage = images.VLLM

// beside are claims that run an image beside the login of a gateway or dispatcher.
func beside() map[string]string {
	return map[string]string{
		"Gateway": ingress0 + "spec: {backend: {image: 'IMAGE'}}\n", "Dispatcher": ingress0 + "spec: {backend: {dispatcherImage: 'IMAGE'}}\n",
		"Session": session + "spec: {modelRef: {name: m}, dispatcherImage: 'IMAGE'}\n",
		"Expose":  dllama + "spec: {modelRef: {name: m}, expose: {image: 'IMAGE'}}\n", "ExposeDispatcher": dllama + "spec: {modelRef: {name: m}, expose: {dispatcherImage: 'IMAGE'}}\n",
	}
}

// TestOwnImagesNeedNoRules holds that images that Koldun runs by itself in a role are allowed
// there, its own in any version, those of engines in the one that it runs, and that Crossplane is
// not asked for rules then.
func TestOwnImagesNeedNoRules(t *testing.T) {
	own := []string{"koldun:other", "ghcr.io/gorizond/koldun:v9", "ghcr.io/gorizond/koldun@sha256:00"}
	allowed := func(claim, image string) {
		rsp := closed(t, strings.ReplaceAll(claim, "IMAGE", image), "", nil)
		if refused := notAllowedFor(rsp); refused != "" || rsp.GetRequirements().GetResources()["platform"] != nil {
			t.Errorf("%s: %q", image, refused)
		}
	}
	for _, image := range append(own, images.DistributedLlama, serverImage, images.Ollama) {
		allowed(dllama+"spec: {modelRef: {name: m}, rootImage: 'IMAGE'}\n", image)
	}
	for _, claim := range beside() {
		for _, image := range own {
			allowed(claim, image)
		}
	}
	if refused := notAllowedFor(closed(t, model+"spec: {sourceUrl: hf://a/b, pv: {csiDriver: d}}\n", "", nil)); refused != "" {
		t.Errorf("a claim of a volume that a StorageClass makes is refused: %s", refused)
	}
}

// TestServersDoNotRunBesideLogins attacks with images that Koldun runs as servers, in place of
// gateways and dispatchers; a rule for servers does not allow them either.
func TestServersDoNotRunBesideLogins(t *testing.T) {
	for name, claim := range beside() {
		for _, image := range []string{serverImage, images.Ollama, images.DistributedLlama} {
			rsp := closed(t, strings.ReplaceAll(claim, "IMAGE", image), "{claims: [{namespaces: [ns], images: [vllm, ollama, ghcr.io]}]}", nil)
			if refused := notAllowedFor(rsp); !strings.Contains(refused, "gatewayImages: [") || len(rsp.GetDesired().GetResources()) > 0 {
				t.Errorf("%s runs %s: %q", name, image, refused)
			}
		}
	}
}

// TestPinnedDigestHoldsForGateways holds that gateways run no other version than the one that
// the platform pins.
func TestPinnedDigestHoldsForGateways(t *testing.T) {
	const pinned = "ghcr.io/gorizond/koldun:v2@sha256:aa"
	for name, claim := range beside() {
		for image, want := range map[string]bool{
			pinned: true, "ghcr.io/gorizond/koldun@sha256:aa": true, "ghcr.io/gorizond/koldun:v1": false, "ghcr.io/gorizond/koldun:v2@sha256:bb": false,
		} {
			req := &fnv1.RunFunctionRequest{
				Observed:          &fnv1.State{Composite: object(t, strings.ReplaceAll(claim, "IMAGE", image))},
				RequiredResources: map[string]*fnv1.Resources{"platform": {}},
			}
			rsp, err := router.New(compose.Config{Image: pinned}).RunFunction(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if refused := notAllowedFor(rsp); (refused == "") != want {
				t.Errorf("%s with %s: %q", name, image, refused)
			}
		}
	}
}

// TestRefusedKeepsWhatRuns holds that a claim that is changed to something that is not
// allowed goes on as it was, with its status.
func TestRefusedKeepsWhatRuns(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: i-gateway, namespace: ns}\nspec: {template: {spec: {containers: [{name: gateway, image: koldun}]}}}"
	for _, spec := range []string{"{backend: {image: evil/x}}", "{route: {host: bank.example}}", "{service: {type: LoadBalancer}}"} {
		keepsWhatRuns(t, deployment, spec)
	}
}

func keepsWhatRuns(t *testing.T, deployment, spec string) {
	t.Helper()
	changed := "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns, generation: 2}\nspec: " + spec + "\nstatus: {observedGeneration: 1, url: 'http://i'}\n"
	rsp := closed(t, changed, "", state{"gateway": deployment})
	if got := slices.Collect(maps.Keys(rsp.GetDesired().GetResources())); !slices.Equal(got, []string{"gateway"}) {
		t.Fatalf("it desires %v", got)
	}
	containers := rsp.GetDesired().GetResources()["gateway"].GetResource().AsMap()["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)
	if image := containers[0].(map[string]any)["image"]; image != "koldun" {
		t.Errorf("the gateway runs %v", image)
	}
	status := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)
	if status["url"] != "http://i" || status["observedGeneration"] != 2.0 || notAllowedFor(rsp) == "" {
		t.Errorf("the status is %v", status)
	}
}
