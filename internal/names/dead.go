package names

const (
	// DeadStream keeps requests that no runner could serve, to look at and to
	// replay: one message for each. Subjects: DeadOf.
	DeadStream = "KOLDUN_DEAD"
	// DeadSubjects is what the stream captures.
	DeadSubjects = "koldun.v1.dead.>"
)

// DeadOf is the subject of the dead letter of one request.
func DeadOf(session, tenant, request string) string {
	return "koldun.v1.dead." + session + "." + tenant + "." + request
}
