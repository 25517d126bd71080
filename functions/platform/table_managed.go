package platform

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// managed are the fields of kinds that are no claims: they use the provider's rights, so the
// platform team says by Kubernetes' own rights who may write them.
func managed() []Row {
	row := func(kind, reach string, fields ...string) Row {
		return Row{Kinds: []string{kind}, Reach: reach, Fields: fields}
	}
	connections := []string{"ClusterProviderConfig", "ProviderConfig"}
	every := []string{
		"Bucket", "Consumer", "Demand", "HubRevision", "KeyValue", "ModelArtifact", "ModelRecord", "NATSAccount", "NATSUser", "NodeLabelRule", "Part", "Pool",
		"Queue", "Stream", "Token", "TokenSet", "WorkloadStatus",
	}
	return []Row{
		{Kinds: every, Fields: []string{"spec.managementPolicies"}, Reach: "which of the provider's actions happen"},
		{Kinds: every, Fields: []string{"spec.providerConfigRef"}, Reach: "the connection: a ProviderConfig of the namespace, or a ClusterProviderConfig that allows it"},
		{Kinds: every, Fields: []string{"spec.writeConnectionSecretToRef"}, Reach: "a Secret of the namespace, which the provider writes"},
		{Kinds: connections, Fields: []string{"spec.nats", "spec.s3"}, Reach: "NATS and object store, by logins of Secrets or the identity of the provider's pod"},
		{Kinds: connections, Fields: []string{"spec.hub"}, Reach: "hubs, also at private addresses if the ClusterProviderConfig says so"},
		{Kinds: connections, Fields: []string{"spec.egressPorts"}, Reach: "ports that NetworkPolicies of pods open"},
		{Kinds: connections, Fields: []string{"spec.allowedNamespaces"}, Reach: "which namespaces use the connection"},
		{Kinds: []string{"ClusterProviderConfig"}, Fields: []string{"spec.sharedLogin"}, Reach: "one login for all namespaces of the connection"},
		row(v1.KindAutoNodeLabeler, "labels of nodes", "spec.capacity|labels|matchExpression|matchExpressions|matchLabels|nodeInfo|priority"),
		row("NodeLabelRule", "labels of nodes", "spec.forProvider.capacity|labels|matchExpressions|matchLabels|nodeInfo|priority"),
		row("Bucket", "a bucket that no other namespace owns", "spec.forProvider.bucketName|abortUploadsAfterDays|lifecycleRules|policy|tags|versioning"),
		row("Bucket", "all objects of the bucket", "spec.forProvider.forceDestroy"),
		row("Bucket", "temporary credentials for a folder of the namespace", "spec.forProvider.access"),
		row("Consumer", "messages of streams of the namespace's account",
			"spec.forProvider.ackPolicy|ackWait|backoff|deliverPolicy|description|filterSubjects|headersOnly|inactiveThreshold|maxAckPending|maxDeliver|name|replayPolicy|replicas|startSequence|startTime|stream"),
		row("KeyValue", "a bucket of the namespace's account", "spec.forProvider.bucket|history|limitMarkerTTL|maxBytes|maxValueSize|placement|replicas|ttl"),
		row("Queue", "streams and buckets of the namespace's account", "spec.forProvider.keyValues|streams"),
		row("Stream", "a stream of the namespace's account", "spec.forProvider.discard|duplicateWindow|maxAge|maxBytes|maxMsgSize|maxMsgs|maxMsgsPerSubject|name|placement|replicas|subjects"),
		row("Demand", "Sessions of the namespace, which are claims and are checked as such", "spec.forProvider.maxIsolated|namespace|session"),
		row("Pool", "Dllamas of the namespace, which are claims and are checked as such",
			"spec.forProvider.dllama|maxMembers|minMembers|owner|scaleDownIdleSeconds|scaleUpBacklog|session"),
		row("Part", "a Model or Ingress of the namespace, which is a claim and is checked as such", "spec.forProvider.kind|name|template|transientReasons", "spec.resourceRef"),
		row("HubRevision", "hubs that the connection allows, with a token of the namespace", "spec.forProvider.exclude|include|revision|source|tokenSecretKey|tokenSecretRef"),
		row("ModelArtifact", "files of a model in the object store", "spec.forProvider.commit|progressKey|source|url|verify"),
		row("ModelRecord", "the registry of models, under the namespace's own name", "spec.forProvider.artifactUrl|fallback|group|name|namespace|sizeBytes|weight|weights"),
		row("NATSAccount", "an account of NATS: its limits, streams and end", "spec.forProvider.connections|diskBytes|namespace|overlap|purge|revokeBefore|streams"),
		row("NATSUser", "users of the namespace's account, by role", "spec.forProvider.lifetime|overlap|revokeBefore|users"),
		row("Token", "the registry of tokens, under the namespace's own name",
			"spec.forProvider.bucket|concurrentRequests|disabled|expires|metadata|models|namespace|overlap|prefix|requestsPerMinute|rotateAfter|secretRef|sha256|tenant|tokensPerMinute"),
		row("TokenSet", "the registry of tokens, by Secrets of the namespace", "spec.forProvider.bucket|namespace|prefix"),
		row("WorkloadStatus", "the state of pods of the namespace", "spec.forProvider.planned|progressPort|selector"),
	}
}
