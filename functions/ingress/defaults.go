package ingress

import "time"

// What the fields that spec.backend leaves out mean. The gateway gets no flag for
// sessions and conversations, as these are its own defaults too. Without
// spec.backend.responses it stores none.
const (
	defaultReplicas        = 1
	defaultMaxSessions     = 8
	defaultConversationTTL = 10 * time.Minute
	defaultResponseTimeout = 10 * time.Minute
	defaultQueueTimeout    = time.Hour
	defaultResponsesTTL    = 24 * time.Hour
	defaultReasoning       = "separate"
)
