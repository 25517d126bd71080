package main

import (
	"maps"
	"slices"
	"testing"
)

// TestClaimsSetWhatTheyMay has a claim's ConfigMap set variables of a process with
// connections: only those count that are listed, and that the container has not.
func TestClaimsSetWhatTheyMay(t *testing.T) {
	got := claimEnv([]string{
		"HF_ENDPOINT=https://hub", "HTTPS_PROXY=http://own", "PATH=/bin",
		"KOLDUN_CLAIM_HF_ENDPOINT=https://evil", "KOLDUN_CLAIM_NATS_URL=nats://evil", "KOLDUN_CLAIM_AWS_ENDPOINT_URL_S3=https://evil",
		"KOLDUN_CLAIM_SSL_CERT_FILE=/x", "KOLDUN_CLAIM_KOLDUN_HUB_REACH=any", "KOLDUN_CLAIM_POD_NAMESPACE=other", "KOLDUN_CLAIM_KOLDUN_CLAIM_NATS_URL=x",
		"KOLDUN_CLAIM_=x", "KOLDUN_CLAIM_HTTPS_PROXY=http://claimed", "KOLDUN_CLAIM_PATH=/evil",
		"KOLDUN_CLAIM_NO_PROXY=.svc", "KOLDUN_CLAIM_KOLDUN_LOG_LEVEL=debug", "KOLDUN_CLAIM_HF_TOKEN=own", "KOLDUN_CLAIM_OTEL_SERVICE_NAME=b=c",
		"KOLDUN_CLAIM_BASH_ENV=$(id)", "KOLDUN_CLAIM_GODEBUG=http2debug=2",
	})
	want := map[string]string{"NO_PROXY": ".svc", "KOLDUN_LOG_LEVEL": "debug", "HF_TOKEN": "own", "OTEL_SERVICE_NAME": "b=c"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}
