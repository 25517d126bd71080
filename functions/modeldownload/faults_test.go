package modeldownload_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The tests of this file are one for each fault of hf-operator, whose users
// ModelDownload serves. TestH5 and TestH10 of package fetch are about files.

const rotated = "apiVersion: v1\nkind: Secret\nmetadata: {name: hf, namespace: ns}\ndata: {token: aGZfbmV3}" // hf_new

// TestH1NewTokenRestartsWhatIsNotComplete: a new token made no Job new.
func TestH1NewTokenRestartsWhatIsNotComplete(t *testing.T) {
	spec := strings.Replace(gated, "{name: org/tiny}", "{name: org/tiny}, {name: org/done}", 1)
	for policy, again := range map[string]bool{"": false, ", onTokenChange: RetryUnfinished": false, ", onTokenChange: Redownload": true} {
		w := newWorld(t, strings.Replace(spec, ", hfTokenRef", policy+", hfTokenRef", 1))
		w.required["token"] = []string{secret}
		w.complete("org/done")
		w.finish("org/tiny", gaveUp)
		w.run()
		old, done := w.job("org/tiny").Name, w.job("org/done").Name
		same(t, "failed"+policy, w.status().Failed, []string{"org/tiny"})
		w.required["token"] = []string{rotated}
		if now := w.job("org/tiny").Name; now == old {
			t.Errorf("Job %q of the failed model stays after a new token", now)
		}
		if now := w.job("org/done").Name; (now != done) != again {
			t.Errorf("%s: Job of the complete model was %q and is %q", policy, done, now)
		}
		same(t, "failed"+policy, w.status().Failed, []string(nil))
	}
}

// TestH2TokenIsNowhereInTheJob: it stood in the arguments and in .git/config.
func TestH2TokenIsNowhereInTheJob(t *testing.T) {
	w := newWorld(t, gated)
	w.required["token"] = []string{secret}
	j := w.job("org/tiny")
	for _, form := range []string{"hf_old", "aGZfb2xk"} {
		if strings.Contains(w.text(w.composite, w.observed), form) {
			t.Errorf("%q is in a composed object or the status", form)
		}
	}
	for _, e := range j.Spec.Template.Spec.Containers[0].Env {
		if e.Name == "HF_TOKEN" {
			same(t, "Secret", e.ValueFrom.SecretKeyRef.Name+"/"+e.ValueFrom.SecretKeyRef.Key, "hf/token")
			return
		}
	}
	t.Error("the Job has no HF_TOKEN")
}

// TestH3ForceReloadActsOnce: it made Jobs new in every pass, and once more when it
// was taken back.
func TestH3ForceReloadActsOnce(t *testing.T) {
	forced := strings.Replace(one, "models:", "settings: {forceReload: true}, models:", 1)
	w := newWorld(t, one)
	w.complete("org/tiny")
	w.set(forced)
	w.run()
	w.complete("org/tiny")
	for range 5 {
		w.run()
		w.expire()
	}
	same(t, "Jobs after a reload", len(w.made), 2)
	w.set(one)
	w.run()
	same(t, "Jobs after it was taken back", len(w.made), 2)
	w.set(forced)
	w.run()
	same(t, "Jobs after it was asked for again", len(w.made), 3)
}

// TestH4ReloadReallyReloads: the script skipped a folder with files. The Job asks for
// all files again; TestReloadDownloadsAgain of package fetch shows that it gets them.
func TestH4ReloadReallyReloads(t *testing.T) {
	nonce := func(composite string) string {
		w := newWorld(t, one)
		w.run()
		w.set(composite)
		for _, a := range w.job("org/tiny").Spec.Template.Spec.Containers[0].Args {
			if id, ok := strings.CutPrefix(a, "--reload="); ok {
				return id
			}
		}
		return ""
	}
	first := nonce(strings.Replace(one, "models:", "reloadToken: a, models:", 1))
	second := nonce(strings.Replace(one, "models:", "reloadToken: b, models:", 1))
	forced := nonce(strings.Replace(one, "models:", "settings: {forceReload: true}, models:", 1))
	if nonce(one) != "" || first == "" || second == "" || forced == "" {
		t.Errorf("requests to reload are %q, %q and %q", first, second, forced)
	}
}

// TestH5FailedDownloadIsNeverComplete: a folder with files counted as complete.
func TestH5FailedDownloadIsNeverComplete(t *testing.T) {
	w := newWorld(t, one)
	for _, status := range []string{active, "status: {failed: 1}", gaveUp, "status: {succeeded: 1, conditions: [{type: FailureTarget, status: 'True', message: late}]}"} {
		w.finish("org/tiny", status)
		w.run()
		same(t, "completed with "+status, w.status().Completed, []string(nil))
	}
	w.expire()
	w.run()
	same(t, "failed", w.status().Failed, []string{"org/tiny"})
	same(t, "Jobs", len(w.made), 1)
}

// TestH6ExpiredJobIsNotRepeated: finished Jobs were made again when their time to
// live ended.
func TestH6ExpiredJobIsNotRepeated(t *testing.T) {
	w := newWorld(t, one)
	w.finish("org/tiny", success)
	w.pass()
	if w.find("org/tiny").Spec.TTLSecondsAfterFinished != nil {
		t.Error("the Job may expire before its result is in the status")
	}
	w.run()
	same(t, "time to live", *w.find("org/tiny").Spec.TTLSecondsAfterFinished, int32(3600))
	same(t, "expired", w.expire(), 1)
	for range 3 {
		w.run()
	}
	same(t, "Jobs", len(w.made), 1)
	same(t, "completed", w.status().Completed, []string{"org/tiny"})
}

// TestH7NamesThatLookAlikeDoNotCollide: they deleted each other's Jobs.
func TestH7NamesThatLookAlikeDoNotCollide(t *testing.T) {
	w := newWorld(t, meta+"spec: {storagePVC: files, models: [{name: a/b-c}, {name: a-b/c}, {name: a/b_c}, {name: A/b.c}]}")
	w.run()
	names := map[string]bool{}
	for _, j := range w.jobs() {
		names[j.Name] = true
	}
	same(t, "Jobs", len(names), 4)
	w.run()
	same(t, "created", len(w.made), 4)
}

// TestH8OldWriterIsGoneBeforeTheNewOneStarts: both wrote to one folder.
func TestH8OldWriterIsGoneBeforeTheNewOneStarts(t *testing.T) {
	w := newWorld(t, one)
	w.linger = true
	w.finish("org/tiny", active)
	old := w.find("org/tiny").Name
	w.set(strings.Replace(one, "{name: org/tiny}", "{name: org/tiny, exclude: ['*.bin']}", 1))
	w.run()
	if n := len(w.jobs()); n != 0 {
		t.Fatalf("%d Jobs besides the old one, whose pod runs", n)
	}
	if m := w.status().Models[0]; !strings.Contains(m.Message, old) || m.Phase != "Pending" {
		t.Errorf("the state is %+v, want it to name Job %q", m, old)
	}
	w.lingering = nil
	if now := w.job("org/tiny").Name; now == old {
		t.Errorf("Job %q is not another one", now)
	}
}

// TestH9LongNamesAreNames: names over 63 characters, or cut at a dash, blocked all.
func TestH9LongNamesAreNames(t *testing.T) {
	long := strings.Repeat("a", 47) + "--" + strings.Repeat("b", 40)
	owner := strings.Repeat("d", 63)
	w := newWorld(t, strings.Replace(meta, "name: d,", "name: "+owner+",", 1)+
		"spec: {storagePVC: files, models: [{name: "+long+"/"+long+"}, {name: org/ok}, {name: a..b/c}]}")
	w.run()
	same(t, "Jobs", len(w.jobs()), 2)
	for _, j := range w.jobs() {
		if e := validation.IsDNS1123Label(j.Name); len(e) > 0 {
			t.Errorf("%q is no name of a Job: %v", j.Name, e)
		}
		for k, v := range j.Spec.Template.Labels {
			if e := validation.IsValidLabelValue(v); len(e) > 0 {
				t.Errorf("label %s=%q: %v", k, v, e)
			}
		}
	}
	same(t, "failed", w.status().Failed, []string{"a..b/c"})
	same(t, "pending", len(w.status().Pending), 2)
}

// TestH11NothingIsShell: names and token could inject commands.
func TestH11NothingIsShell(t *testing.T) {
	w := newWorld(t, gated)
	w.required["token"] = []string{secret}
	c := w.job("org/tiny").Spec.Template.Spec.Containers[0]
	if len(c.Command) > 0 || slices.ContainsFunc(c.Args, func(a string) bool { return strings.Contains(a, "sh") && strings.Contains(a, "-c") }) {
		t.Errorf("the Job runs %q with %q", c.Command, c.Args)
	}
	w = newWorld(t, meta+"spec: {storagePVC: files, models: [{name: 'a/b\"; rm -rf /'}]}")
	w.run()
	same(t, "Jobs of a name that no repository has", len(w.jobs()), 0)
}

// TestSettingsRepeatNothing: what changes only how a Job runs leaves complete models
// as they are, and makes Jobs new of those that are not.
func TestSettingsRepeatNothing(t *testing.T) {
	both := strings.Replace(one, "[{name: org/tiny}]", "[{name: org/tiny}, {name: org/done}]", 1)
	w := newWorld(t, both)
	w.complete("org/done")
	old := w.job("org/tiny").Name
	w.set(strings.Replace(both, "models:", "nodePool: spot, settings: {memory: 2Gi, timeoutMillis: 5}, models:", 1))
	w.run()
	same(t, "completed", w.status().Completed, []string{"org/done"})
	if j := w.find("org/done"); j != nil && j.Spec.ActiveDeadlineSeconds != nil {
		t.Error("the complete model has a Job with other settings")
	}
	if now := w.job("org/tiny"); now.Name == old || *now.Spec.ActiveDeadlineSeconds != 1 || now.Spec.Template.Spec.NodeSelector["karpenter.sh/nodepool"] != "spot" {
		t.Errorf("Job %q has not the settings", now.Name)
	}
}

// TestRemovedModelLeavesTheStatus, and its Job ends.
func TestRemovedModelLeavesTheStatus(t *testing.T) {
	w := newWorld(t, strings.Replace(one, "[{name: org/tiny}]", "[{name: org/tiny}, {name: org/gone}]", 1))
	w.run()
	w.set(one)
	w.complete("org/tiny")
	same(t, "Jobs", len(w.jobs()), 1)
	same(t, "models", len(w.status().Models), 1)
	same(t, "revisions", len(w.hub()), 1)
	same(t, "made", slices.Max(slices.Collect(maps.Values(w.made))), 1)
}

// TestAnotherObjectsWriterIsWaitedFor: two objects may name the same folder, or one
// inside of the other.
func TestAnotherObjectsWriterIsWaitedFor(t *testing.T) {
	for model, jobs := range map[string]int{"name: org/tiny": 0, "name: a/b, subPath: org": 0, "name: a/b, subPath: org/tiny/x": 0, "name: org/tiny2": 1} {
		w := newWorld(t, one)
		other := newWorld(t, strings.NewReplacer("name: d,", "name: e,", "name: org/tiny", model).Replace(one))
		other.run()
		for _, o := range other.observed {
			if o["kind"] == "Job" {
				w.lingering = append(w.lingering, o)
			}
		}
		w.run()
		same(t, "Jobs besides that of "+model, len(w.jobs()), jobs)
	}
}
