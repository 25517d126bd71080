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
	// AnnotationSessionKey on a Dllama is the key of its pool.
	AnnotationSessionKey = Group + "/session-key"
	// LabelIngress on a Session names the Ingress that leads it.
	LabelIngress = Group + "/ingress"
	// LabelSession on a Dllama and its pods names their Session.
	LabelSession = Group + "/session"
	// LabelToken marks the Secrets that hold API tokens.
	LabelToken = Group + "/token"
)
