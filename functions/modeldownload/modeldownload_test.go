package modeldownload_test

import (
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/modeldownload"
	"github.com/gorizond/koldun/functions/reason"
)

const (
	meta    = "apiVersion: koldun.gorizond.io/v1\nkind: ModelDownload\nmetadata: {name: d, namespace: ns, uid: u, generation: 3}\n"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	one     = meta + "spec: {storagePVC: files, models: [{name: org/tiny}]}"
	gated   = meta + "spec: {storagePVC: files, models: [{name: org/tiny}], hfTokenRef: {name: hf, key: token}}"
	claim   = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: files, namespace: ns, uid: volume-1}"
	secret  = "apiVersion: v1\nkind: Secret\nmetadata: {name: hf, namespace: ns}\ndata: {token: aGZfb2xk}" // hf_old
	found   = "status: {atProvider: {commit: " + commit + ", files: 3, sizeBytes: 2048}}"
	active  = "status: {active: 1, ready: 1}"
	success = "status: {succeeded: 1, completionTime: '2026-01-02T03:04:05Z', conditions: [{type: Complete, status: 'True'}]}"
	gaveUp  = "status: {failed: 2, conditions: [{type: Failed, status: 'True', message: no luck}]}"
)

// there is what is found when nothing is missing.
func there(more ...string) map[string][]string {
	return map[string][]string{"volume": {claim}, "token": more, "jobs": {}}
}

func TestModelDownload(t *testing.T) {
	all := meta + `spec:
  storagePVC: files
  endpoint: https://hub.example.org/
  nodePool: spot
  hfTokenRef: {name: hf, key: token}
  reloadToken: once
  models: [{name: org/tiny, sha: ` + commit + `, retryCount: 0, include: ['*.json'], exclude: [a.json], subPath: a/b}]
  settings: {timeoutMillis: 1001, enableHFTransfer: true, keepAliveSeconds: 60, cpu: '2', memory: 8Gi, forceReload: true, maxParallel: 1}
  scheduling: {nodeSelector: {zone: a}, tolerations: [{key: gpu, operator: Exists}], imagePullSecrets: [{name: registry}]}
`
	two := meta + "spec: {storagePVC: files, settings: {maxParallel: 1}, models: [{name: a/one}, {name: a/two}]}"
	oneOf := func(name string) string { return revisionOf(t, two, name) }
	composetest.Table(t, modeldownload.Compose, map[string]composetest.Case{
		"New":            {Composite: one, Reason: reason.DownloadPending, Says: "is being looked up"},
		"Nothing":        {Composite: meta + "spec: {storagePVC: files, models: []}", Required: there(), Reason: reason.Available},
		"VolumeMissing":  {Composite: one, Required: map[string][]string{"volume": {}, "jobs": {}}, Reason: reason.StorageNotFound, Says: `PersistentVolumeClaim "files" does not exist in namespace "ns": create it`},
		"SecretMissing":  {Composite: gated, Required: there(), Reason: reason.TokenNotFound, Says: `Secret "hf" does not exist`},
		"KeyMissing":     {Composite: strings.Replace(gated, "key: token", "key: other", 1), Required: there(secret), Reason: reason.TokenNotFound, Says: `has no key "other"`},
		"Resolving":      {Composite: one, Required: there(), Reason: reason.ResolvingRevision, Says: "the hub has not answered yet"},
		"HubNotAllowed":  {Composite: one, Required: there(), Observed: map[string]string{revisionOf(t, one, "org/tiny"): "status: {atProvider: {refusal: not in the list, notAllowed: true}}"}, Reason: reason.NotAllowed, Says: "not in the list"},
		"Refused":        {Composite: one, Required: there(), Observed: map[string]string{revisionOf(t, one, "org/tiny"): "status: {atProvider: {refusal: gated}}"}, Reason: reason.RevisionUnavailable, Says: "gated"},
		"NameInvalid":    {Composite: meta + "spec: {storagePVC: files, models: [{name: a..b/c}]}", Required: there(), Reason: reason.SourceInvalid},
		"FoldersOverlap": {Composite: meta + "spec: {storagePVC: files, models: [{name: a/b}, {name: c/d, subPath: a/b/c}]}", Required: there(), Observed: map[string]string{}, Reason: reason.ResolvingRevision, Says: "failed: c/d"},
		"Starting":       {Composite: one, Required: there(), Observed: map[string]string{revisionOf(t, one, "org/tiny"): found}, Reason: reason.Downloading, Says: "starts"},
		"Gated":          {Composite: gated, Required: there(secret), Observed: map[string]string{revisionOf(t, gated, "org/tiny"): found}, Reason: reason.Downloading},
		"AllFields":      {Composite: all, Required: there(secret), Observed: map[string]string{revisionOf(t, all, "org/tiny", secret): found}, Reason: reason.Downloading},
		"MaxParallel":    {Composite: two, Required: there(), Observed: map[string]string{oneOf("a/one"): found, oneOf("a/two"): found}, Reason: reason.Downloading, Says: "0/2"},
	})
}

// TestHFTransferStaysInItsMemory derives the number of connections from the memory.
func TestHFTransferStaysInItsMemory(t *testing.T) {
	for settings, want := range map[string]string{
		"{}":                       "",
		"{enableHFTransfer: true}": "--concurrency=32",
		"{memory: 4Gi}":            "",
		"{memory: 128Mi}":          "--concurrency=4",
		"{memory: 10Mi}":           "--concurrency=1",
		"{enableHFTransfer: true, memory: 320Mi}": "--concurrency=16",
		"{enableHFTransfer: true, memory: 8Gi}":   "--concurrency=32",
	} {
		w := newWorld(t, meta+"spec: {storagePVC: files, models: [{name: org/tiny}], settings: "+settings+"}")
		args := strings.Join(w.job("org/tiny").Spec.Template.Spec.Containers[0].Args, " ")
		if want == "" && strings.Contains(args, "--concurrency") || !strings.Contains(args, want) {
			t.Errorf("with settings %s the arguments are %s, want %q", settings, args, want)
		}
	}
}

// TestJobsWaitForTheirTurn starts no more than maxParallel Jobs, and the next one when
// one has ended.
func TestJobsWaitForTheirTurn(t *testing.T) {
	w := newWorld(t, meta+"spec: {storagePVC: files, settings: {maxParallel: 1}, models: [{name: a/one}, {name: a/two}]}")
	w.run()
	if n := len(w.jobs()); n != 1 {
		t.Fatalf("%d Jobs run, want 1", n)
	}
	w.finish("a/one", success)
	w.run()
	if w.find("a/two") == nil {
		t.Fatalf("the second Job has not started: %+v", w.status().Models)
	}
	w.finish("a/two", success)
	w.run()
	if got := w.status(); got.Summary != "2/2" || got.Progress != "100%" || len(got.Pending) != 0 {
		t.Errorf("status is %+v", got)
	}
}

// TestMissingVolumeStopsNoRunningJob: what runs has what it needs.
func TestMissingVolumeStopsNoRunningJob(t *testing.T) {
	w := newWorld(t, gated)
	w.required["token"] = []string{secret}
	w.run()
	w.finish("org/tiny", active)
	before := w.job("org/tiny").Name
	w.required["volume"], w.required["token"] = []string{}, []string{}
	w.run()
	if after := w.find("org/tiny"); after == nil || after.Name != before {
		t.Errorf("Job %q does not stay", before)
	}
}

// TestAnotherVolumeOfTheSameNameIsFilled: it is empty.
func TestAnotherVolumeOfTheSameNameIsFilled(t *testing.T) {
	w := newWorld(t, one)
	w.complete("org/tiny")
	w.required["volume"] = []string{strings.Replace(claim, "volume-1", "volume-2", 1)}
	w.run()
	if got := w.status(); len(got.Completed) != 0 || w.find("org/tiny") == nil {
		t.Errorf("status is %+v", got)
	}
}
