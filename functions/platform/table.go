package platform

import v1 "github.com/gorizond/koldun/apis/composite/v1"

// claimKinds are the kinds that authors of a namespace write.
func claimKinds() []string {
	return []string{
		v1.KindModel, v1.KindDllama, v1.KindIngress, v1.KindSession, v1.KindRoot, v1.KindWorker, v1.KindModelDownload,
		v1.KindAIDeployment, v1.KindAIModelMap, v1.KindModelOrchestra,
	}
}

// Table says of each field of each kind what it reaches and who may set it. The first row that
// covers a field is about it.
func Table() []Row {
	return append(append(granted(), open()...), managed()...)
}

// open are the fields of claims that their authors may set.
func open() []Row {
	only := func(kind string) []string { return []string{kind} }
	model := []string{v1.KindModel, v1.KindDllama}
	return []Row{
		{Reach: "labels of objects of the namespace, which its policies and Services select by; Koldun's own stay", Fields: []string{"**.labels|podLabels"}},
		{Reach: "variables of containers, from ConfigMaps of the namespace and Secrets that are not Koldun's; containers with connections take those of a list only, and servers need serverSecrets where logins are shared",
			Fields: []string{"**.env|envFrom|backendEnv|backendEnvFrom"}},
		{Reach: "Secrets of the namespace that are not Koldun's, for the purpose of the field", Fields: []string{
			"**.apiKeySecretRef|hashSecretRef|hfTokenRef|accessTokenSecretRef|huggingFaceTokenSecretRef", "**.tls.secretName", "spec.ingress.tlsSecretName", "**.imagePullSecrets",
			"**.volumes|modelsVolume.secret",
		}},
		{Reach: "a plain secret of the claim, which Koldun moves to a Secret", Fields: []string{"spec.backend.hashSecret", "**.readerConfig.accessToken"}},
		{Reach: "volumes and ConfigMaps of the namespace, within its quota", Fields: []string{
			"**.volumes|modelsVolume.name|claim|emptyDir|configMap|persistentVolumeClaim", "**.volumeMounts.mountPath|name|readOnly|recursiveReadOnly|subPath|subPathExpr",
			"**.cache.claimName|sizeLimit", "**.preConvertedPVCName", "spec.storagePVC", "spec.modelSource",
			"**.pv.accessModes|capacity|pvcAccessModes|pvcCapacity|pvcStorageClassName|reclaimPolicy|storageClassName", "**.sharedMemory", "**.writable",
		}},
		{Reach: "a third-party server's program, which has no connections; it needs serverCommands where logins are shared", Fields: []string{"**.server.command|args|model|port|profile|servedName|source|startupTimeout", "spec.args"}},
		{Reach: "what the sidecar asks the server for", Fields: []string{"**.server.features|operations|parameters|slots"}},
		{Reach: "a server outside of the pods, from the root's pod", Fields: []string{"**.server.url"}},
		{Reach: "connections: those that a ProviderConfig of the namespace, or a ClusterProviderConfig that allows the namespace, gives it", Fields: []string{
			"**.nats.url|credentialsSecret|providerConfigRef", "spec.providerConfigRef",
			"**.objectStorage.bucketForConvert|bucketForSource|endpoint|manageBuckets|providerConfigRef|region|secretRef", "**.cacheSpec.bucket|endpoint|secretRef",
		}},
		{Reach: "hubs that the connection allows", Fields: []string{"**.sourceUrl|revision|localPath", "spec.endpoint"}, Kinds: append(model, v1.KindModelDownload)},
		{Reach: "Models, maps and gateways of the namespace, and those of others that name it", Fields: []string{"**.modelRef", "spec.ingressRef", "spec.serves", "spec.models.modelMapRef"}},
		{Reach: "own Models and maps, for other namespaces", Fields: []string{"**.allowedNamespaces", "spec.access.namespaces"}},
		{Reach: "CPU, memory and devices of nodes, within the namespace's quota", Fields: []string{
			"**.resources|rootResources|workerResources", "**.download|conversion.memory", "**.rootMemory|memory.overheadMaxRatio", "spec.settings.cpu|memory",
		}},
		{Reach: "numbers of pods, within the namespace's quota", Fields: []string{
			"**.replicas|replicaCount|replicaPower|nodes|minIdle|maxWorkers|maxSessions", "**.scaling|sessionScaling.*", "**.scaling.spec|metricTarget.**", "spec.autoscaling", "spec.deployment.strategy",
		}},
		{Reach: "the choice of nodes among those that taints leave", Fields: []string{"**.affinity", "**.topologySpreadConstraints", "spec.nodePool", "spec.deployment.accelerator"}},
		{Reach: "probes of the own containers", Fields: []string{"**.livenessProbe|readinessProbe|startupProbe"}},
		{Reach: "users and file systems of the own containers", Fields: []string{
			"**.podSecurityContext.fsGroup|fsGroupChangePolicy|runAsNonRoot|seLinuxChangePolicy|supplementalGroups|supplementalGroupsPolicy",
			"**.securityContext.runAsNonRoot|readOnlyRootFilesystem", "**.securityContext.capabilities.drop",
		}},
		{Reach: "when images are pulled", Fields: []string{"**.imagePullPolicy", "**.image.pullPolicy"}},
		{Reach: "the way to the own Service: below an allowed host, by an entry point whose owner lets the namespace attach", Fields: []string{
			"**.route.path|pathType|ingressClassName|gateways|kind|parentRefs", "**.ingress.className|enabled|gateways|tls", "**.ingress.hosts.paths", "spec.endpoint.path|port",
			"**.service.port|ports", "**.ports.containerPort|name|protocol",
		}},
		{Reach: "names of objects of the namespace", Fields: []string{"spec.nameOverride|fullnameOverride", "spec.serviceAccount.create"}},
		{Reach: "callers of the own gateway: who they are, and how much they may ask", Fields: []string{
			"**.allowAnonymous|corsOrigins|maxBodySize|queueTimeout|requestTimeout|responseTimeout|strictParameters|reasoning|responses|conversationTTL|isolation|sessions",
			"**.limits.concurrentRequests|requestsPerMinute|tokensPerMinute", "**.queue.maxAttempts|maxBytes|maxPerSession|maxPerTenant|replicas|stateStream|ackTimeout",
			"**.config.allowRemoteImages|bodySizeLimitBytes|extra|heartbeatCheckInterval|internalPort|maxPromptStringBytes|maxUserBatchSize|readerMessageTimeoutMs|reservedConsumers",
		}},
		{Reach: "the own pool and its requests", Fields: []string{"**.answerTimeouts", "**.delivery", "spec.traffic", "spec.key|hash|ttl|answerGrace", "spec.gateway.slots"}},
		{Reach: "how the own engine computes", Fields: []string{
			"**.engine.bufferFloatType|gpuIndex|maxSeqLen|netTurbo|slots|threads|type|name|nodes", "spec.bufferFloatType|maxSeqLen|nThreads|modelFile|tokenizerFile|modelRef|slot", "**.launchOptions",
			"**.readerConfig.*", "**.readerConfig.extra", "spec.engine.options.dtype|quantization|servedName", "spec.models.dataType|engineConfigFile|options|quantization|revision|uri",
		}},
		{Reach: "roots and workers of a ring by address, which the ring's NetworkPolicies admit", Fields: []string{"spec.workers|workerSelector|rootRef|rootCIDRs"}},
		{Reach: "which files a Job fetches and how it converts them", Fields: []string{
			"**.download.chunkMaxMiB|concurrency|exclude|include", "**.conversion.convertWeights|outputPath|type|weightsFloatType", "**.preConverted|preConvertedSizeBytes|preConvertedSizeHuman",
			"spec.models.exclude|include|name|retryCount|revision|sha|subPath", "spec.onTokenChange|reloadToken",
			"spec.settings.enableHFTransfer|forceReload|keepAliveSeconds|maxParallel|timeoutMillis",
		}},
		{Reach: "where variants of models are", Kinds: only(v1.KindAIModelMap), Fields: []string{"spec.*.dataType|engineConfigFile|quantization|revision|uri|variant"}},
		{Reach: "metrics of the own gateway, for Prometheus", Fields: []string{"spec.gateway.exportPrometheusMetrics"}},
		{Reach: "what runs the applications", Kinds: only(v1.KindModelOrchestra), Fields: []string{"spec.backend"}},
		{Reach: "nothing: the condition LegacyFields names them", Fields: []string{
			"**.download|conversion.image|command|args|rcloneImage|toolsImage|converterVersion|writerURL|writerConfigMap|dependencies", "**.pipProxy", "**.dispatcherMetricsListen",
			"**.nats.kvBucket|modelsBucket|tokensBucket|modelPrefix|tokenPrefix|ttlPrefix", "spec.queue.assignmentsBucket|backlogSubject|dllamaSubjectPrefix|responseSubjectPrefix",
		}},
	}
}
