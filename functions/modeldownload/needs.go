package modeldownload

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// volume looks for the PersistentVolumeClaim.
func (p *downloadPlan) volume() (compose.Next, error) {
	name := p.d.Spec.StoragePVC
	var claim corev1.PersistentVolumeClaim
	found, known := p.Require("volume", "v1", "PersistentVolumeClaim", p.d.Namespace, name, &claim)
	switch {
	case !known:
		p.block(reason.DownloadPending, fmt.Sprintf("PersistentVolumeClaim %q is being looked up", name))
	case !found:
		p.block(reason.StorageNotFound, fmt.Sprintf("PersistentVolumeClaim %q does not exist in namespace %q: create it, or correct spec.storagePVC", name, p.d.Namespace))
	}
	p.volumeID = string(claim.UID)
	return compose.Continue, nil
}

// token looks for the Secret with the hub's token. Only a digest of the token is
// used here: Jobs get the token by reference.
func (p *downloadPlan) token() (compose.Next, error) {
	ref := p.d.Spec.HFTokenRef
	if ref == nil {
		return compose.Continue, nil
	}
	var secret corev1.Secret
	found, known := p.Require("token", "v1", "Secret", p.d.Namespace, ref.Name, &secret)
	value := strings.TrimSpace(string(secret.Data[ref.Key]))
	switch {
	case !known:
		p.block(reason.DownloadPending, fmt.Sprintf("Secret %q is being looked up", ref.Name))
	case !found:
		p.block(reason.TokenNotFound, fmt.Sprintf("Secret %q does not exist in namespace %q: create it with the key %q, or remove spec.hfTokenRef", ref.Name, p.d.Namespace, ref.Key))
	case value == "":
		p.block(reason.TokenNotFound, fmt.Sprintf("Secret %q has no key %q: add the key with the hub's token, or correct spec.hfTokenRef.key", ref.Name, ref.Key))
	default:
		p.tokenDigest = names.Hash(8, p.d.Namespace, ref.Name, value)
	}
	return compose.Continue, nil
}

// writers lists the Jobs that download to volumes of the namespace, also those
// that are no longer composed: Crossplane forgets a Job before its pod is gone.
func (p *downloadPlan) writers() (compose.Next, error) {
	known := p.RequireAll("jobs", "batch/v1", "Job", p.d.Namespace, map[string]string{labelComponent: resDownload}, func() any {
		j := &batchv1.Job{}
		p.others = append(p.others, j)
		return j
	})
	if !known {
		p.block(reason.DownloadPending, "The Jobs of the namespace are being looked up")
	}
	for key := range p.Resources(resDownload + "-") {
		var j batchv1.Job
		if p.Observed(key, &j) && !finished(j) {
			p.running++
		}
	}
	return compose.Continue, nil
}

// reload counts the requests to download all again. The status has the values that
// were seen last, so that each change acts once, and what an object has when it is
// new, or created again, requests nothing. A token that is not known changes nothing.
func (p *downloadPlan) reload() (compose.Next, error) {
	var r v1.ReloadStatus
	asked, changed, token := p.forced(), p.d.Spec.ReloadToken, p.tokenDigest
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
	if r.Count > 0 {
		p.nonce = names.Hash(16, string(p.d.UID), strconv.FormatInt(r.Count, 10))
	}
	return compose.Continue, nil
}

func (p *downloadPlan) forced() bool {
	return p.d.Spec.Settings != nil && p.d.Spec.Settings.ForceReload
}

// watch watches the pods of the Jobs that exist.
func (p *downloadPlan) watch() (_ compose.Next, err error) {
	for range p.Resources(resDownload + "-") {
		p.pods, err = managed.WatchProgress(p.Call, p.d.Namespace, names.Object(p.d.Name, "modeldownload", "pods"), workload.Owner("modeldownload", p.d.Name), job.PortProgress)
		break
	}
	return compose.Continue, err
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
