package parity

// resets returns the values with which a manifest removes what it has set, by
// plural and field: in a cluster an omitted field keeps its value. Terraform has
// defaults instead.
func resets() map[string]map[string]any {
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
