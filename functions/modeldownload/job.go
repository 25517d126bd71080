package modeldownload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/names"
)

const (
	labelComponent = "koldun.gorizond.io/component"
	// annotationFolder on a Job is the volume and the folder that it writes to.
	annotationFolder = "koldun.gorizond.io/folder"
	// annotationSpec on a Job is the spec that it was made with, without defaults: the
	// Job stays only if it is desired in exactly this form.
	annotationSpec = "koldun.gorizond.io/applied-spec"

	labelNodePool = "karpenter.sh/nodepool"
	volumeName    = "models"
	keepAlive     = 3600 // seconds, by default
)

// job returns the Job that downloads a model at a commit. Its name changes with
// its spec, the token and the volume. hubSecret is the Secret with the connection to
// the hub.
func (m download) job(ref modelref.Ref, hubSecret string) (job.Job, error) {
	s := m.settings()
	f := job.Fetch{
		From: ref, To: names.DirRef(volumeName) + "/" + folder(m.DownloadModel), Include: m.Include, Exclude: m.Exclude,
		Reload: m.in.nonce, Owner: m.d.Namespace + "/" + m.d.Name,
	}
	if len(f.Include) == 0 {
		f.Include = []string{"*"}
	}
	if t := m.d.Spec.HFTokenRef; t != nil {
		f.Token = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: t.Name}, Key: t.Key}
	}
	f.Concurrency = connections(s)
	c := f.Container()
	c.Args = append(c.Args, job.ServeProgress(job.PortProgress))
	c.Name, c.Image, c.Resources, c.Secrets = resDownload, m.Image, job.Memory(s.Memory), []string{hubSecret}
	if s.CPU != nil {
		for _, list := range []*corev1.ResourceList{&c.Resources.Requests, &c.Resources.Limits} {
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[corev1.ResourceCPU] = *s.CPU
		}
	}
	retries := int32(job.Retries)
	if m.RetryCount != nil {
		retries = *m.RetryCount
	}
	j := workload.Job(m.d.Namespace, "", retries, workload.Pod{
		Labels:       m.labels(),
		Containers:   []workload.Container{c},
		Ports:        map[string]int32{job.PortProgress: job.ProgressNumber},
		Volumes:      map[string]string{volumeName: "/models"},
		Claims:       map[string]workload.Claim{volumeName: {Name: m.d.Spec.StoragePVC}},
		Env:          workload.EnvOf(m.d.Spec.Env, m.d.Spec.EnvFrom),
		PullPolicy:   m.d.Spec.ImagePullPolicy,
		Scheduling:   m.scheduling(),
		GraceSeconds: job.GraceSeconds,
	})
	if s.TimeoutMillis > 0 {
		seconds := (s.TimeoutMillis + 999) / 1000
		j.Spec.ActiveDeadlineSeconds = &seconds
	}
	out, err := job.Named(j, m.d.Name, stage(m.DownloadModel), m.in.tokenDigest, m.in.volumeID)
	if err != nil {
		return job.Job{}, err
	}
	j.Name = names.Object(m.d.Name, plain(path.Base(m.Name)), strings.TrimPrefix(out.Key, resDownload+"-"))
	raw, err := json.Marshal(j.Spec)
	if err != nil {
		return job.Job{}, fmt.Errorf("cannot encode Job %q: %w", j.Name, err)
	}
	j.Annotations = map[string]string{annotationFolder: m.place(), annotationSpec: string(raw)}
	return out, nil
}

// made returns an observed Job in the form in which it was desired: without its UID, which
// Crossplane would copy to spec.crossplane.resourceRefs, whose schema has none.
func made(seen batchv1.Job) (*batchv1.Job, bool) {
	j := &batchv1.Job{TypeMeta: seen.TypeMeta, ObjectMeta: metav1.ObjectMeta{Namespace: seen.Namespace, Name: seen.Name, Labels: seen.Labels, Annotations: map[string]string{}}}
	for _, key := range []string{annotationFolder, annotationSpec} {
		j.Annotations[key] = seen.Annotations[key]
	}
	return j, json.Unmarshal([]byte(seen.Annotations[annotationSpec]), &j.Spec) == nil
}

func (p *downloadPlan) settings() v1.DownloadSettings {
	if s := p.d.Spec.Settings; s != nil {
		return *s
	}
	return v1.DownloadSettings{}
}

// expire has Kubernetes delete a Job whose success is in the status: one that is gone
// before would be made again.
func (p *downloadPlan) expire(j *batchv1.Job) {
	seconds := cmp.Or(p.settings().KeepAliveSeconds, keepAlive)
	j.Spec.TTLSecondsAfterFinished = &seconds
}

// stage is a part of the names of what is composed for a model.
func stage(m v1.DownloadModel) string { return resDownload + "-" + names.Hash(8, m.Name) }

// folder of a model below the root of the volume.
func folder(m v1.DownloadModel) string { return cmp.Or(m.SubPath, m.Name) }

// place is the volume and the folder of a model.
func (m download) place() string { return m.d.Spec.StoragePVC + "/" + folder(m.DownloadModel) }

// labels of a Job and its pod. The first three are those of hf-operator.
func (m download) labels() map[string]string {
	out := map[string]string{
		"app":    "hf-downloader",
		"parent": names.Join(names.MaxLabel, m.d.Name),
		"model":  plain(m.Name),
	}
	maps.Copy(out, workload.Labels(resDownload, "modeldownload", m.d.Name))
	return out
}

// plain is the name of a model as hf-operator writes it in labels. Names of several
// models may be equal in it.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '_' || r == '.' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
	return strings.Trim(name[:min(len(name), 50)], "-")
}

// scheduling is that of the spec, on the nodes of the pool.
func (p *downloadPlan) scheduling() *v1.Scheduling {
	s := p.d.Spec.Scheduling
	if p.d.Spec.NodePool == "" {
		return s
	}
	out := v1.Scheduling{}
	if s != nil {
		out = *s
	}
	out.NodeSelector = maps.Clone(out.NodeSelector)
	if out.NodeSelector == nil {
		out.NodeSelector = map[string]string{}
	}
	out.NodeSelector[labelNodePool] = p.d.Spec.NodePool
	return &out
}

// connections returns how many connections a Job downloads with, as many as its memory
// allows; 0 is the default.
func connections(s v1.DownloadSettings) int32 {
	const usual, many = 8, 32
	want := int32(usual)
	if s.EnableHFTransfer {
		want = many
	}
	if s.Memory != nil {
		want = min(want, memory.Connections(s.Memory.Value()))
	}
	if want == usual {
		return 0
	}
	return want
}
