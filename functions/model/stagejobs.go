package model

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gorizond/koldun/functions/job"
	"github.com/gorizond/koldun/functions/memory"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

func (f *files) fetchJob() (job.Job, error) {
	fetch := job.Fetch{From: f.at.Ref, To: f.at.Source, ProgressKey: progressKey(f.m, f.at.Source, "fetch")}
	fetch.From.Revision = f.commit
	var claimed *resource.Quantity
	if d := f.m.Spec.Download; d != nil {
		claimed = d.Memory
		fetch.Concurrency, fetch.PartMiB, fetch.Include, fetch.Exclude = d.Concurrency, d.ChunkMaxMiB, d.Include, d.Exclude
	}
	if t := tokenSecret(f.m); t != nil {
		fetch.Token = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: t.Name}, Key: "token"}
	}
	c := fetch.Container()
	c.Secrets = []string{hubSecret(f.m, f.at.Ref), storeSecret(f.m), busSecret(f.m)}
	c.Login, c.StoreKeys, c.Resources = f.keys.logins.Of(resFetch), f.keys.storeKeys, job.Memory(claimed)
	return f.job(resFetch, c, nil)
}

func (f *files) convertJob() (job.Job, error) {
	args := []string{
		"convert", "--from=" + f.at.Source, "--to=" + f.at.Converted,
		"--weights=" + f.at.Weights, "--name=" + artifactName(f.at.Ref.Repo),
		"--progress-key=" + progressKey(f.m, f.at.Converted, "convert"),
	}
	var claimed *resource.Quantity
	if c := f.m.Spec.Conversion; c != nil {
		claimed = c.Memory
	}
	return f.job(resConvert, workload.Container{
		Args:    args,
		Secrets: []string{storeSecret(f.m), busSecret(f.m)}, Login: f.keys.logins.Of(resConvert), StoreKeys: f.keys.storeKeys,
		Resources: job.Memory(claimed), Memory: memory.Convert(), Request: memory.Convert(),
	}, nil)
}

// artifactName is the name in the file names: the repository's, so that Models
// of the same source share files.
func artifactName(repository string) string {
	return names.Join(48, strings.ReplaceAll(strings.ReplaceAll(path.Base(repository), ".", "-"), "_", "-"))
}
