package modeldownload

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// volume looks for the PersistentVolumeClaim.
func (p *downloadPlan) volume() (id string, missing *blocked) {
	name := p.d.Spec.StoragePVC
	var claim corev1.PersistentVolumeClaim
	found, known := p.Require("volume", "v1", "PersistentVolumeClaim", p.d.Namespace, name, &claim)
	switch {
	case !known:
		missing = blockedBy(reason.DownloadPending, "PersistentVolumeClaim %q is being looked up", name)
	case !found:
		missing = blockedBy(reason.StorageNotFound, "PersistentVolumeClaim %q does not exist in namespace %q: create it, or correct spec.storagePVC",
			name, p.d.Namespace)
	}
	return string(claim.UID), missing
}

// token looks for the Secret with the hub's token. Only a digest of the token is
// used here: Jobs get the token by reference.
func (p *downloadPlan) token() (digest string, missing *blocked) {
	ref := p.d.Spec.HFTokenRef
	if ref == nil {
		return "", nil
	}
	var secret corev1.Secret
	found, known := p.Require("token", "v1", "Secret", p.d.Namespace, ref.Name, &secret)
	value := strings.TrimSpace(string(secret.Data[ref.Key]))
	switch {
	case !known:
		return "", blockedBy(reason.DownloadPending, "Secret %q is being looked up", ref.Name)
	case !found:
		return "", blockedBy(reason.TokenNotFound, "Secret %q does not exist in namespace %q: create it with the key %q, or remove spec.hfTokenRef",
			ref.Name, p.d.Namespace, ref.Key)
	case value == "":
		return "", blockedBy(reason.TokenNotFound, "Secret %q has no key %q: add the key with the hub's token, or correct spec.hfTokenRef.key", ref.Name, ref.Key)
	}
	return names.Hash(8, p.d.Namespace, ref.Name, value), nil
}

// jobs are the Jobs of the namespace that download to volumes.
type jobs struct {
	all     []*batchv1.Job
	running int // of this object
}

// writers lists the Jobs that download to volumes of the namespace, also those
// that are no longer composed: Crossplane forgets a Job before its pod is gone.
func (p *downloadPlan) writers() (found *jobs, missing *blocked) {
	found = &jobs{}
	known := p.RequireAll("jobs", "batch/v1", "Job", p.d.Namespace, map[string]string{labelComponent: resDownload}, func() any {
		j := &batchv1.Job{}
		found.all = append(found.all, j)
		return j
	})
	if !known {
		missing = blockedBy(reason.DownloadPending, "The Jobs of the namespace are being looked up")
	}
	for key := range p.Resources(resDownload + "-") {
		var j batchv1.Job
		if p.Observed(key, &j) && !finished(j) {
			found.running++
		}
	}
	return found, missing
}

// reload counts the requests to download all again. The status has the values that
// were seen last, so that each change acts once, and what an object has when it is
// new, or created again, requests nothing. A token that is not known changes nothing.
func (p *downloadPlan) reload(token string) (nonce string) {
	var r v1.ReloadStatus
	asked, changed := p.forced(), p.d.Spec.ReloadToken
	if before := p.d.Status.Reload; before != nil {
		r = *before
		if asked && !r.Forced || changed != "" && changed != r.LastReloadToken ||
			p.d.Spec.OnTokenChange == onTokenRedownload && token != "" && r.LastTokenDigest != "" && token != r.LastTokenDigest {
			r.Count++
		}
	}
	r.Forced, r.LastReloadToken = asked, changed
	if token != "" {
		r.LastTokenDigest = token
	}
	p.status.Reload = &r
	if r.Count == 0 {
		return ""
	}
	return names.Hash(16, string(p.d.UID), strconv.FormatInt(r.Count, 10))
}

func (p *downloadPlan) forced() bool {
	return p.d.Spec.Settings != nil && p.d.Spec.Settings.ForceReload
}

// watch watches the pods of the Jobs that exist.
func (p *downloadPlan) watch() (managed.Pods, error) {
	for range p.Resources(resDownload + "-") {
		name := names.Object(p.d.Name, "modeldownload", "pods")
		return managed.WatchProgress(p.Call, p.d.Namespace, name, workload.Owner("modeldownload", p.d.Name), job.PortProgress)
	}
	return managed.Pods{}, nil
}

// onTokenRedownload is the value of spec.onTokenChange that downloads all again.
const onTokenRedownload = "Redownload"

// finished reports whether no pod of a Job runs any more.
func finished(j batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
