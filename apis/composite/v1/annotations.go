package v1

// Annotations and labels that people set or read.
const (
	// AnnotationVerify on a Model has the stored files verified again,
	// whenever its value changes.
	AnnotationVerify = Group + "/force-size-rerun"
	// AnnotationMemoryPlan on pods says what the memory plan gives to each node.
	AnnotationMemoryPlan = Group + "/memory-plan"
	// AnnotationGroup on the pods of a root and its workers changes when any
	// of them does, so that they are restarted together.
	AnnotationGroup = Group + "/group"
	// AnnotationSessionKey on a Dllama is the key of the pool that it belongs to.
	AnnotationSessionKey = Group + "/session-key"
	// LabelIngress on a Session names the Ingress that leads it.
	LabelIngress = Group + "/ingress"
	// LabelSession on a Dllama and its pods names the Session that they belong to.
	LabelSession = Group + "/session"
	// LabelToken marks the Secrets that hold API tokens.
	LabelToken = Group + "/token"
)
