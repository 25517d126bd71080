package v1

// Annotations and labels for users.
const (
	// AnnotationVerify on a Model causes a new verification of the stored files
	// whenever its value changes.
	AnnotationVerify = Group + "/force-size-rerun"
	// AnnotationMemoryPlan on pods holds the memory plan of each node.
	AnnotationMemoryPlan = Group + "/memory-plan"
	// AnnotationGroup on the pods of a root and its workers changes with any of
	// them, so that they restart together.
	AnnotationGroup = Group + "/group"
	// AnnotationTemplate on Deployments and StatefulSets is a hash of their template
	// for pods, and on the Dllamas of a Pool one of the Pool's template.
	AnnotationTemplate = Group + "/template"
	// AnnotationRuntime on the Model that a Dllama composes is how it is to run, so
	// that what cannot run is not downloaded.
	AnnotationRuntime = Group + "/runtime"
	// AnnotationSessionKey on a Dllama is the key of its pool.
	AnnotationSessionKey = Group + "/session-key"
	// LabelIngress on a Session names the Ingress that leads it.
	LabelIngress = Group + "/ingress"
	// LabelSession on a Dllama and its pods names their Session.
	LabelSession = Group + "/session"
	// LabelGrantedModel on a Token names the Model of another namespace that it is for.
	LabelGrantedModel = Group + "/granted-model"
	// LabelToken marks the Secrets that hold API tokens.
	LabelToken = Group + "/token"
)

// Labels and annotations of an AIDeployment's objects. The names with premlabs.io
// are those of prem-operator, whose users select by them.
const (
	// LabelAIDeployment on pods names their AIDeployment.
	LabelAIDeployment = Group + "/ai-deployment"
	// LabelPremDeployment is the same.
	LabelPremDeployment = "mlcontroller.premlabs.io/ai-deployment"
	// LabelPremSpread marks the pods of all AIDeployments, which spread over nodes
	// together.
	LabelPremSpread = "mlcontroller.premlabs.io/spread-topology"
	// AnnotationConfig on pods changes with the configuration files that they read, so
	// that they restart.
	AnnotationConfig = Group + "/config-checksum"
)
