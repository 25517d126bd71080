package hostile_test

import "maps"

// object returns a managed resource on the connections of a ClusterProviderConfig.
func object(kind, config, spec string) string {
	return "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: " + kind + ", metadata: {name: evil}, spec: {providerConfigRef: {kind: ClusterProviderConfig, name: " + config + "}, forProvider: " + spec + "}}"
}

// A managedAttack is a managed resource of the attacker.
type managedAttack struct {
	manifest string
	// refused is in the answer of the API server; says in a condition.
	refused, says string
}

// managedAttacks returns resources against what the victim has on servers.
func managedAttacks() map[string]managedAttack {
	all := serverAttacks()
	maps.Copy(all, folderAttacks())
	maps.Copy(all, hubAttacks())
	return all
}

// hubAttacks returns requests for models that the platform team does not allow.
func hubAttacks() map[string]managedAttack {
	ask := func(config, source, says string) managedAttack {
		return managedAttack{manifest: object("HubRevision", config, "{source: '"+source+"'}"), says: says}
	}
	const list, endpoint = `which is [huggingface.co/meta-llama, hub.acme/*/public-*]`, `is not in spec.hub.allowed of ClusterProviderConfig "tenants", which is [127.0.0.1:`
	return map[string]managedAttack{
		"HubOfItsOwn":          ask(tenants, "https://evil.example/org/model", endpoint),
		"HubOnAnotherPort":     ask(tenants, "http://127.0.0.1:9/org/model", endpoint),
		"HubNamedLikeAnother":  ask(folders, "https://huggingface.co.evil.example/meta-llama/x", list),
		"HubInThePath":         ask(folders, "https://evil.example/huggingface.co", list),
		"OrganisationNotInIt":  ask(folders, "https://hub.acme/evil/private", list),
		"OrganisationBeginsSo": ask(folders, "https://hub.acme/public-x", list),
		"RepositoryOfOthers":   ask(folders, "hf://org/model", list),
	}
}

// folderAttacks returns resources against what the victim keeps in a bucket that both
// namespaces use.
func folderAttacks() map[string]managedAttack {
	const refused = `it may use the folders in "hostile" and read those in ["platform"]`
	const of = `is for several namespaces, of which "hostile" has folder "hostile"`
	access := func(list string) managedAttack {
		return managedAttack{manifest: object("Bucket", folders, "{bucketName: victim-models, access: ["+list+"]}"), says: refused}
	}
	return map[string]managedAttack{
		"WritesFolder":          access("{prefix: default/source, write: true}"),
		"ReadsFolder":           access("{prefix: default/source}"),
		"ReadsFolderBeside":     access("{prefix: hostile}, {prefix: default}"),
		"ReadsFolderByDots":     access("{prefix: hostile/../default}"),
		"ReadsWholeBucket":      access("{write: false}"),
		"WritesSharedFolder":    access("{prefix: platform/source, write: true}"),
		"WritesOtherBucket":     access("{bucket: victim-files, prefix: default, write: true}"),
		"DestroysAllFolders":    {manifest: object("Bucket", folders, "{bucketName: victim-models, forceDestroy: true}"), says: of},
		"PublishesAllFolders":   {manifest: object("Bucket", folders, `{bucketName: victim-models, policy: '{"Version":"2012-10-17","Statement":[]}'}`), says: of},
		"OwnsFirst":             {manifest: object("Bucket", folders, "{bucketName: first-of-hostile, tags: {team: evil}}"), says: of},
		"ListsFilesOfOthers":    {manifest: object("ModelArtifact", folders, "{url: 's3://victim-models/default/source'}"), says: refused},
		"RecordsFilesOfOthers":  {manifest: object("ModelRecord", folders, "{namespace: hostile, name: mine, artifactUrl: 's3://victim-models/default/source'}"), says: refused},
		"ListsFilesByDots":      {manifest: object("ModelArtifact", folders, "{url: 's3://victim-models/hostile/../default'}"), says: "cannot"},
		"ListsFilesWithoutPath": {manifest: object("ModelArtifact", folders, "{url: 's3://victim-models'}"), refused: "spec.forProvider.url"},
	}
}

// serverAttacks returns resources against what the victim has on all servers.
func serverAttacks() map[string]managedAttack {
	const of, noOwner = `belongs to namespace "default"`, "has no owner"
	const notAllowed = `namespace "hostile" may not use ClusterProviderConfig "platform"`
	config := func(spec, kind, of string) string {
		return "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: ProviderConfig, metadata: {name: evil}, spec: " + spec + "}\n---\n" +
			"{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: " + kind + ", metadata: {name: evil}, spec: {providerConfigRef: {kind: ProviderConfig, name: evil}, forProvider: " + of + "}}"
	}
	own := func(spec string) string { return config(spec, "Stream", "{name: X, subjects: [x]}") }
	hub := func(spec, source string) string {
		return config("{hub: "+spec+"}", "HubRevision", "{source: '"+source+"'}")
	}
	return map[string]managedAttack{
		"EmptiesStream":          {manifest: object("Stream", common, "{name: WORK, subjects: [work.>], maxMsgs: 1}"), says: of},
		"ExpiresStream":          {manifest: object("Stream", common, "{name: WORK, subjects: [work.>], maxAge: 1s}"), says: of},
		"TakesSubjects":          {manifest: object("Stream", common, "{name: WORK, subjects: [other.>]}"), says: of},
		"EmptiesRequests":        {manifest: object("Stream", common, "{name: KOLDUN_REQUESTS, subjects: [koldun.v1.req.>], maxMsgs: 1}"), says: noOwner},
		"LetsNobodyQueue":        {manifest: object("Stream", common, "{name: KOLDUN_REQUESTS, subjects: [koldun.v1.req.>], maxMsgSize: 1}"), says: noOwner},
		"ConsumesStream":         {manifest: object("Consumer", common, "{stream: WORK, name: evil}"), says: of},
		"ConsumesRequests":       {manifest: object("Consumer", common, "{stream: KOLDUN_REQUESTS, name: evil}"), says: noOwner},
		"ConsumesTokens":         {manifest: object("Consumer", common, "{stream: KV_koldun_tokens, name: evil}"), says: noOwner},
		"ExpiresKeys":            {manifest: object("KeyValue", common, "{bucket: settings, ttl: 1s}"), says: of},
		"ShrinksKeys":            {manifest: object("KeyValue", common, "{bucket: settings, maxValueSize: 1}"), says: of},
		"ExpiresTokens":          {manifest: object("KeyValue", common, "{bucket: koldun_tokens, ttl: 1s}"), says: noOwner},
		"ExpiresModelsByQueue":   {manifest: object("Queue", common, "{keyValues: [{bucket: koldun_models, ttl: 1s}]}"), says: noOwner},
		"ExpiresKeysByQueue":     {manifest: object("Queue", common, "{keyValues: [{bucket: settings, ttl: 1s}]}"), says: of},
		"DestroysBucket":         {manifest: object("Bucket", common, "{bucketName: victim-models, forceDestroy: true}"), says: of},
		"PublishesBucket":        {manifest: object("Bucket", common, `{bucketName: victim-models, policy: '{"Version":"2012-10-17","Statement":[]}'}`), says: of},
		"VersionsBucket":         {manifest: object("Bucket", common, "{bucketName: victim-models, versioning: Enabled}"), says: of},
		"TagsBucket":             {manifest: object("Bucket", common, "{bucketName: victim-models, tags: {team: evil}}"), says: of},
		"OwnsBucketByTag":        {manifest: object("Bucket", common, "{bucketName: victim-models, tags: {koldun.gorizond.io/owner: hostile}}"), says: "says who owns the bucket"},
		"WritesModel":            {manifest: object("ModelRecord", tenants, "{namespace: default, name: tiny, sizeBytes: 1, weights: q40}"), says: `can write entries of that namespace only`},
		"WritesMember":           {manifest: object("ModelRecord", tenants, "{namespace: default, name: tiny, group: evil, weight: 1000}"), says: `can write entries of that namespace only`},
		"WritesModelOnSharedLog": {manifest: object("ModelRecord", common, "{namespace: default, name: other, sizeBytes: 1, weights: q40}"), says: `can write entries of that namespace only`},
		"MakesTokenOfOthers":     {manifest: object("Token", common, "{namespace: default, priority: x}"), refused: "field not declared in schema"},
		"WritesToken":            {manifest: object("Token", common, "{namespace: default}"), says: `can write entries of that namespace only`},
		"WritesTokens":           {manifest: object("TokenSet", common, "{namespace: default}"), says: `can write entries of that namespace only`},
		"ReadsSecretOfOthers":    {manifest: object("Token", common, "{secretRef: {name: pods, namespace: default}}"), refused: "field not declared in schema"},
		"MakesProviderUser":      {manifest: object("NATSUser", tenants, "{users: [{name: evil, role: provider}]}"), refused: "role"},
		"MakesUserOfAll":         {manifest: object("NATSUser", tenants, "{users: [{name: evil, role: runner, session: '*', runner: r0, model: model/default/tiny}]}"), refused: "session"},
		"MakesUserElsewhere":     {manifest: object("NATSUser", tenants, "{namespace: default, users: [{name: evil, role: gateway}]}"), refused: "field not declared in schema"},
		"ChangesAccount":         {manifest: "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: NATSAccount, metadata: {name: evil}, spec: {forProvider: {namespace: default, purge: true}}}", refused: "forbidden"},
		"LabelsNodes":            {manifest: "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: NodeLabelRule, metadata: {name: evil}, spec: {forProvider: {}}}", refused: "forbidden"},
		"AllowsItself":           {manifest: "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: ClusterProviderConfig, metadata: {name: platform}, spec: {allowedNamespaces: {names: ['*']}}}", refused: "forbidden"},
		"LabelsItself":           {manifest: "{apiVersion: v1, kind: Namespace, metadata: {name: hostile, labels: {koldun.gorizond.io/connection: allowed}}}", refused: "forbidden"},
		"WritesElsewhere":        {manifest: "{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: Stream, metadata: {name: evil, namespace: default}, spec: {forProvider: {name: X, subjects: [x]}}}", refused: "forbidden"},
		"StreamOfPlatform":       {manifest: object("Stream", platform, "{name: X, subjects: [x]}"), says: notAllowed},
		"BucketOfPlatform":       {manifest: object("Bucket", platform, "{bucketName: evil}"), says: notAllowed},
		"TokensOfPlatform":       {manifest: object("TokenSet", platform, "{}"), says: notAllowed},
		"HubOfPlatform":          {manifest: object("HubRevision", platform, "{source: 'hf://org/model'}"), says: notAllowed},
		"ConfigWithSecretOfHome": {manifest: own("{nats: {url: 'nats://127.0.0.1:1', secretRef: {name: login, namespace: crossplane-system}}}"), says: "only those of namespace"},
		"ConfigWithCredentials":  {manifest: own("{nats: {url: 'nats://u:p@127.0.0.1:1'}}"), says: "holds credentials"},
		"ReadsMetadataService":   {manifest: object("HubRevision", common, "{source: 'http://169.254.169.254/org/model'}"), says: "169.254.169.254"},
		"ReadsLoopback":          {manifest: object("HubRevision", common, "{source: 'http://127.0.0.1:9/org/model'}"), says: "address"},
		"ReadsPrivateNetwork":    {manifest: object("HubRevision", common, "{source: 'http://10.0.0.1/org/model'}"), says: "address"},
		"ReadsByRedirect":        {manifest: object("HubRevision", common, "{source: 'hf://org/model'}"), says: "169.254.169.254"},
		"OwnHubReadsMetadata":    {manifest: hub("{endpoint: 'http://169.254.169.254'}", "hf://org/model"), says: "which no server may have"},
		"OwnStoreIsMetadata":     {manifest: config("{s3: {endpoint: 'http://169.254.169.254'}}", "Bucket", "{bucketName: evil}"), says: "which no server may have"},
		"OwnNATSIsMetadata":      {manifest: own("{nats: {url: 'nats://169.254.169.254:80'}}"), says: "which no server may have"},
		"OwnHubReadsLoopback":    {manifest: hub("{endpoint: 'http://127.0.0.1:9'}", "hf://org/model"), says: "is not a public one"},
		"OwnHubByAddress":        {manifest: hub("{allowed: ['*']}", "http://10.0.0.1/org/model"), says: "is not a public one"},
		"AllowsItsOwnAddresses":  {manifest: hub("{endpoint: 'http://10.0.0.1', allowPrivateAddresses: true}", "hf://org/model"), says: "is the platform team's to set"},
		"TokenOfForeignSecret":   {manifest: object("HubRevision", common, "{source: 'hf://org/model', tokenSecretRef: {name: pods}}"), says: "pods"},
	}
}
