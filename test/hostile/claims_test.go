package hostile_test

// A claimAttack is a claim of the attacker: refused is in the answer of the API server, says
// in what the composition function sets.
type claimAttack struct{ kind, spec, refused, says string }

// claimAttacks returns claims against the victim's models, pools and gateways.
func claimAttacks() map[string]claimAttack {
	return map[string]claimAttack{
		"JoinsPool":            {kind: "Root", spec: "{serves: default/tiny, modelRef: tiny, workers: ['w:9998']}", says: "a Root serves only those of its own"},
		"ServesForeignModel":   {kind: "Dllama", spec: "{modelRef: {name: tiny, namespace: default}}", says: "or its spec.allowedNamespaces lacks namespace"},
		"LearnsWhetherExists":  {kind: "Dllama", spec: "{modelRef: {name: no-such, namespace: default}}", says: "or its spec.allowedNamespaces lacks namespace"},
		"ArgNamespace":         {kind: "Ingress", spec: "{backend: {extraArgs: ['--namespace=default']}}", refused: "extraArgs"},
		"ArgNamespaces":        {kind: "Ingress", spec: "{backend: {extraArgs: ['--namespaces', default]}}", refused: "extraArgs"},
		"GrantsItself":         {kind: "Ingress", spec: "{backend: {nats: {providerConfigRef: {kind: ClusterProviderConfig, name: platform, namespace: default}}}}", refused: "field not declared in schema"},
		"SecretElsewhere":      {kind: "Ingress", spec: "{backend: {hashSecretRef: {name: pods, key: gateway.creds, namespace: default}}}", refused: "field not declared in schema"},
		"TokenSecretElsewhere": {kind: "Model", spec: "{sourceUrl: 'hf://org/model', huggingFaceTokenSecretRef: {name: pods, namespace: default}}", refused: "field not declared in schema"},
	}
}
