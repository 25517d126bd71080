package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofCluster returns those that the cluster refuses, or that it has not what they need.
func (ms *mistakes) ofCluster(t *testing.T) map[string]mistake {
	t.Helper()
	return map[string]mistake{
		"route": ingressWith("}, route: {host: a.example, gateways: [{name: public}]").alone().beside("Prerequisites").
			is("PrerequisiteMissing", `HTTPRoute "route-route"`, "the Gateway API", "kubectl apply"),
		"class": modelWith(tinyModel+", pv: {pvcStorageClassName: absent}").alone().
			is("PrerequisiteMissing", `StorageClass "absent"`, "does not exist"),
		"capacity": modelWith(tinyModel+", pv: {pvcCapacity: 1Ki}").alone().
			is("VolumeTooSmall", "spec.pv.pvcCapacity", "Nothing is downloaded"),
		"argument": served(", command: [serve], args: [--nonsense]", ", rootImage: "+strict).
			is("ArgumentRefused", "unrecognized arguments", "--nonsense", "spec.engine.server.args"),
		"webhook": served("", ", rootImage: "+hollow).in(refusingWebhook(t)).
			is("PodRefused", "denied the request", "only signed images", "change the policy of the webhook"),
	}
}

// refusingWebhook serves an admission webhook that refuses pods with a label of its own
// namespace, and returns its configuration.
func refusingWebhook(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "only signed images may run", Code: http.StatusForbidden}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: signed}
webhooks:
  - name: signed.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {url: '%s', caBundle: %s}
    objectSelector: {matchLabels: {koldun.gorizond.io/dllama: webhook}}
    rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
`, server.URL, authority)
}
