package workloadstatus

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/model/progress"
)

// pod returns a running pod of a Job with its progress at an address.
func pod(t *testing.T, name, address string) *corev1.Pod {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{
			{Name: "first"}, {Name: "second", Ports: []corev1.ContainerPort{{Name: "progress", ContainerPort: int32(number)}}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: host},
	}
}

func TestTargets(t *testing.T) {
	isReady := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		asked  bool
	}{
		"Running":        {func(*corev1.Pod) {}, true},
		"InitContainer":  {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, true},
		"ReadyOfJob":     {isReady, true},
		"Ready":          {func(p *corev1.Pod) { isReady(p); p.Spec.RestartPolicy = corev1.RestartPolicyAlways }, false},
		"Loading":        {func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways }, true},
		"Succeeded":      {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
		"Failed":         {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		"WithoutAddress": {func(p *corev1.Pod) { p.Status.PodIP = "" }, false},
		"NetworkOfNode":  {func(p *corev1.Pod) { p.Spec.HostNetwork = true }, false},
		"Deleted":        {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, false},
		"WithoutThePort": {func(p *corev1.Pod) { p.Spec.Containers[1].Ports[0].Name = "http" }, false},
	} {
		p := pod(t, "p", "10.1.2.3:8084")
		c.change(p)
		got := targets([]*corev1.Pod{p}, "progress")
		if c.asked != slices.Equal(got, []target{{"p", "http://10.1.2.3:8084/progress"}}) || !c.asked && len(got) > 0 {
			t.Errorf("%s: targets are %+v, asked must be %t", name, got, c.asked)
		}
	}
}

// Pods are asked over HTTP. What is no progress is left out.
func TestAsk(t *testing.T) {
	want := progress.Summary{Stage: progress.Fetch, Bytes: 1, Total: 4, Percent: 25, ETASeconds: 30}
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	text := func(body string) string {
		return serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	}
	good := serve(progress.Handler(func() (progress.Summary, bool) { return want, true }))
	closed := httptest.NewServer(nil)
	closed.Close()
	var pods []*corev1.Pod
	for name, address := range map[string]string{
		"e-good":     good,
		"idle":       serve(progress.Handler(func() (progress.Summary, bool) { return want, false })),
		"absent":     closed.Listener.Addr().String(),
		"other":      text("<html>"),
		"impossible": text(`{"stage":"fetch","percent":200}`),
		"unknown":    text(`{"stage":"rm -rf /","percent":20}`),
		"elsewhere":  serve(http.RedirectHandler("http://"+good+progress.Path, http.StatusFound)),
		"headers": serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<16))
			_ = json.NewEncoder(w).Encode(want)
		})),
		"b-good": good,
	} {
		pods = append(pods, pod(t, name, address))
	}
	got := ask(t.Context(), newAsker(), targets(pods, "progress"))
	if !slices.Equal(got, []PodProgress{{"b-good", want}, {"e-good", want}}) {
		t.Errorf("ask: %+v", got)
	}
}

// A resource that selects a whole namespace keeps the provider no longer than others do.
func TestTargetsAreBounded(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 2 * maxAsked {
		pods = append(pods, pod(t, fmt.Sprintf("p-%03d", i), "10.1.2.3:8084"))
	}
	if got := targets(pods, "progress"); len(got) != maxAsked || got[0].pod != "p-000" {
		t.Errorf("%d of %d pods are asked, want %d", len(got), len(pods), maxAsked)
	}
}
