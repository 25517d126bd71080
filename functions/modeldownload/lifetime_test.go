package modeldownload_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRunningJobStays when the token or the volume disappears, or the hub does not
// answer, whatever else changes meanwhile.
func TestRunningJobStays(t *testing.T) {
	redownload := strings.Replace(gated, "hfTokenRef", "onTokenChange: Redownload, reloadToken: a, hfTokenRef", 1)
	edited := func(composite string) string {
		return strings.Replace(composite, "models:", "settings: {memory: 2Gi}, models:", 1)
	}
	for name, c := range map[string]struct {
		composite string
		lose      func(w *world)
		phase     string
	}{
		"TokenWithRedownload": {redownload, func(w *world) { w.required["token"] = []string{} }, "Running"},
		"TokenAndEdit":        {gated, func(w *world) { w.required["token"] = []string{}; w.set(edited(gated)) }, "Running"},
		"Volume":              {gated, func(w *world) { w.required["volume"] = []string{} }, "Running"},
		"Revision":            {gated, func(w *world) { w.silent = true; w.remove("HubRevision") }, "Pending"},
		"RevisionAndToken": {redownload, func(w *world) {
			w.silent, w.required["token"] = true, []string{}
			w.remove("HubRevision")
		}, "Running"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.composite)
			w.required["token"] = []string{secret}
			w.finish("org/tiny", active)
			w.run()
			before := w.find("org/tiny")
			c.lose(w)
			w.run()
			after := w.find("org/tiny")
			if after == nil || after.Name != before.Name {
				t.Fatalf("Job %q does not stay", before.Name)
			}
			same(t, "spec", w.text(after.Spec, 0), w.text(before.Spec, 0))
			same(t, "phase", w.status().Models[0].Phase, c.phase)
		})
	}
}

// TestSuccessCountsWhileTheTokenIsMissing: the Job had all that it needed.
func TestSuccessCountsWhileTheTokenIsMissing(t *testing.T) {
	w := newWorld(t, gated)
	w.required["token"] = []string{secret}
	w.finish("org/tiny", active)
	w.run()
	w.required["token"] = []string{}
	w.finish("org/tiny", success)
	w.run()
	same(t, "completed", w.status().Completed, []string{"org/tiny"})
	w.required["token"] = []string{secret}
	w.run()
	w.expire()
	w.run()
	same(t, "Jobs", len(w.made), 1)
}

// TestOnlyAChangeReloads: what an object has when it is created, or gets without
// replacing another value, requests nothing.
func TestOnlyAChangeReloads(t *testing.T) {
	with := func(fields string) string { return strings.Replace(gated, "models:", fields+"models:", 1) }
	const redownload = "onTokenChange: Redownload, "
	for name, c := range map[string]struct {
		steps []string // spec after spec; "rotate" and "lose" are the token's
		jobs  int
	}{
		"RedownloadIsAdded":       {[]string{gated, with(redownload)}, 1},
		"RedownloadThenRotation":  {[]string{gated, with(redownload), "rotate"}, 2},
		"RotationThenRedownload":  {[]string{gated, "rotate", with(redownload)}, 1},
		"TokenIsLostAndComesBack": {[]string{with(redownload), "lose", "restore"}, 1},
		"CreatedWithReloadToken":  {[]string{with("reloadToken: a, ")}, 1},
		"CreatedWithForceReload":  {[]string{with("settings: {forceReload: true}, ")}, 1},
		"ReloadTokenIsRemoved":    {[]string{with("reloadToken: a, "), gated}, 1},
		"ReloadTokenIsChanged":    {[]string{with("reloadToken: a, "), with("reloadToken: b, ")}, 2},
		"ReloadTokenIsAdded":      {[]string{gated, with("reloadToken: a, "), with("reloadToken: a, ")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.steps[0])
			w.required["token"] = []string{secret}
			for _, step := range c.steps {
				switch step {
				case "rotate":
					w.required["token"] = []string{rotated}
				case "lose":
					w.required["token"] = []string{}
				case "restore":
					w.required["token"] = []string{secret}
				default:
					w.set(step)
				}
				w.run()
				if len(w.status().Pending) > 0 {
					w.complete("org/tiny")
				}
				w.run()
				w.expire()
			}
			same(t, "Jobs", len(w.made), c.jobs)
		})
	}
}

// TestFailedModelStartsAgain when its Job is deleted, and leaves complete ones alone.
func TestFailedModelStartsAgain(t *testing.T) {
	w := newWorld(t, strings.Replace(one, "{name: org/tiny}", "{name: org/tiny}, {name: org/done}", 1))
	w.complete("org/done")
	w.finish("org/tiny", gaveUp)
	w.run()
	failed := w.find("org/tiny").Name
	if m := w.status().Models[0]; m.Phase != "Failed" || !strings.Contains(m.Message, "no luck; mend the cause, then delete the Job: it starts again") {
		t.Errorf("the state is %+v", m)
	}
	same(t, "expired Jobs", w.expire(), 1) // that of the complete model
	w.update("Job", func(o map[string]any) { o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-02T03:04:05Z" })
	w.pass()
	if w.find("org/tiny") != nil {
		t.Error("a Job that is being deleted is desired")
	}
	w.run()
	same(t, "times that the Job was made", w.made[failed], 2)
	same(t, "Jobs", len(w.made), 2)
	same(t, "pending", w.status().Pending, []string{"org/tiny"})
	w.complete("org/tiny")
}

// TestJobCountsMoreThanTheStatus: Kubernetes may run a Job again that failed.
func TestJobCountsMoreThanTheStatus(t *testing.T) {
	for status, phase := range map[string]string{success: "Completed", active: "Running"} {
		w := newWorld(t, one)
		w.finish("org/tiny", gaveUp)
		w.run()
		w.finish("org/tiny", status)
		w.run()
		same(t, "phase after failure with "+status, w.status().Models[0].Phase, phase)
	}
}

// TestPodProblemIsNamed in the state of its model, and stays when the Job gives up.
func TestPodProblemIsNamed(t *testing.T) {
	const pending = "status: {active: 1, ready: 0}"
	for name, c := range map[string]struct {
		job, pod, problem, reason, phase, why, says string
	}{
		"Pending":      {pending, "", "", "", "Pending", "Downloading", "starts"},
		"Running":      {active, "", "", "", "Running", "Downloading", "runs"},
		"Image":        {pending, "JOB-x2x2x", "cannot pull", "ImageUnavailable", "Pending", "ImageUnavailable", "cannot pull"},
		"NoPod":        {"status: {}", "", `Job "JOB" cannot create pods`, "QuotaExceeded", "Pending", "QuotaExceeded", "cannot create pods"},
		"OfAnotherJob": {pending, "other-x2x2x", "cannot pull", "ImageUnavailable", "Pending", "Downloading", "starts"},
		"GaveUp":       {gaveUp, "JOB-x2x2x", "the folder is another's", "StorageConflict", "Failed", "StorageConflict", "the folder is another's"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, one)
			job := w.job("org/tiny").Name
			w.finish("org/tiny", c.job)
			w.update("WorkloadStatus", func(o map[string]any) {
				at := map[string]any{}
				for key, value := range map[string]string{"reason": c.reason, "message": c.problem, "pod": c.pod} {
					if value != "" {
						at[key] = strings.ReplaceAll(value, "JOB", job)
					}
				}
				o["status"] = map[string]any{"atProvider": at}
			})
			w.run()
			check := func(when string) {
				t.Helper()
				if m := w.status().Models[0]; m.Phase != c.phase || m.Reason != c.why || !strings.Contains(m.Message, c.says) {
					t.Errorf("%s: the state is %+v", when, m)
				}
			}
			check("with the problem")
			if c.phase == "Failed" {
				w.update("WorkloadStatus", func(o map[string]any) { delete(o, "status") })
				w.run()
				check("without its pod")
			}
			for _, o := range w.observed {
				if o["kind"] == "WorkloadStatus" {
					raw, _ := json.Marshal(o["spec"])
					same(t, "selector", string(raw), `{"forProvider":{"progressPort":"progress","selector":{"koldun.gorizond.io/modeldownload":"d"}}}`)
					return
				}
			}
			t.Error("nothing watches the pods")
		})
	}
}

// TestFinishedJobHasNoUID: Crossplane refuses to compose an object with one.
func TestFinishedJobHasNoUID(t *testing.T) {
	w := newWorld(t, one)
	w.complete("org/tiny")
	w.update("Job", func(o map[string]any) { o["metadata"].(map[string]any)["uid"] = "job-1" })
	w.run()
	if j := w.job("org/tiny"); j.UID != "" {
		t.Errorf("the desired Job has UID %q", j.UID)
	}
}
