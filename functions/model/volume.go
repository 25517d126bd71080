package model

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/names"
)

// volume composes the volume with the files at a URL, when one is wanted. A
// composite without a namespace gets a static volume of the CSI driver; one
// with a namespace must not compose such a thing, and gets a claim that a Job
// fills.
func (p *plan) volume(url string, size int64, keys workload.StoreKeys) (compose.Next, error) {
	if p.m.Spec.PV == nil {
		return compose.Continue, nil
	}
	claim := claimOf(p.m, url)
	key := resClaim + "-" + names.Hash(8, claim.Name)
	if p.ClusterScoped() {
		volume := static(p.m, claim.Name, url)
		claim.Spec.VolumeName = volume.Name
		claim.Spec.StorageClassName = &volume.Spec.StorageClassName
		p.status.OutputPVCName = claim.Name
		if err := p.Desire(resVolume+"-"+names.Hash(8, volume.Name), volume, compose.Ready); err != nil {
			return compose.Stop, err
		}
		return compose.Continue, p.Desire(key, claim, compose.Ready)
	}
	if problem := p.tooSmall(size); problem != "" && !p.Exists(key) {
		p.Fail(reason.VolumeTooSmall, "%s", problem)
		return compose.Stop, nil
	}
	if err := p.Desire(key, claim, compose.Ready); err != nil {
		return compose.Stop, err
	}
	return p.fill(claim.Name, url, keys)
}

// tooSmall says why the volume cannot hold files of that size; empty if it can, or if
// none is filled.
func (p *plan) tooSmall(size int64) string {
	pv := p.m.Spec.PV
	if pv == nil || p.ClusterScoped() {
		return ""
	}
	field, capacity := "spec.pv.capacity", quantity(pv.Capacity)
	if pv.PVCCapacity != nil {
		field, capacity = "spec.pv.pvcCapacity", *pv.PVCCapacity
	}
	if capacity.Value() >= size {
		return ""
	}
	return fmt.Sprintf("%s: the files take %s, and the volume has %s: set it to more", field, bytesize.Format(size), capacity.String())
}

// fill composes the Job that copies the files. The Job stays: the claim alone
// does not say whether the copy is complete.
func (p *plan) fill(claim, url string, keys workload.StoreKeys) (compose.Next, error) {
	const folder = "files"
	fill, err := p.job(resFill, workload.Container{
		Args:      []string{"fetch", "--from=" + url, "--to=" + names.DirRef(folder), job.ServeProgress(job.PortProgress)},
		Secrets:   []string{storeSecret(p.m)},
		StoreKeys: keys,
		Memory:    memory.Fetch(0, 0),
		Request:   memory.Fetch(0, 0),
	}, map[string]workload.Claim{folder: {Name: claim}})
	if err != nil {
		return compose.Stop, err
	}
	var seen batchv1.Job
	known := p.Observed(fill.Key, &seen)
	done := known && seen.Status.Succeeded > 0
	if err := p.Desire(fill.Key, fill.Job, compose.Readiness(done)); err != nil {
		return compose.Stop, err
	}
	if done {
		p.status.OutputPVCName = claim
		return compose.Continue, nil
	}
	pods, err := p.watchPods()
	if err != nil {
		return compose.Stop, err
	}
	if message, gaveUp := job.Failure(seen); known && gaveUp {
		p.Fail(reason.VolumeFailed, "Job %q gave up: %s", fill.Name, cmp.Or(pods.Message, message))
		return compose.Stop, nil
	}
	p.FailIf(pods.Reason, pods.Message)
	at := pods.OfJob(fill.Name)
	p.status.Progress, p.status.ETA = at.String(), at.ETA()
	p.Fail(reason.FillingVolume, "Job %q copies the files into PersistentVolumeClaim %q", fill.Name, claim)
	return compose.Stop, nil
}
