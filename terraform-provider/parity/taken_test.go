package parity

// taken is how a manifest takes away what it has given before, by plural and
// field: in a cluster what is left out stays as it is. Terraform has defaults
// instead.
func taken() map[string]map[string]any {
	return map[string]map[string]any{
		"streams": {
			"discard": "old", "duplicateWindow": "2m", "maxAge": "0s", "maxBytes": 0, "maxMsgs": 0, "maxMsgSize": 0, "maxMsgsPerSubject": 0,
		},
		"keyvalues": {"limitMarkerTTL": "0s", "ttl": "0s", "maxBytes": 0, "maxValueSize": 0},
		"consumers": {
			"description": "", "filterSubjects": []any{}, "maxDeliver": 0, "backoff": []any{}, "inactiveThreshold": "0s", "headersOnly": false,
		},
	}
}
