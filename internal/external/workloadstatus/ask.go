package workloadstatus

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/internal/model/progress"
)

const (
	askEvery   = 5 * time.Second // interval of questions to a pod
	askTimeout = 2 * time.Second // of one question
	askers     = 8               // questions at the same time
	maxAnswer  = 4096            // bytes, as of the headers
	maxAsked   = 64              // pods of one resource
)

// A PodProgress is the progress of one pod.
type PodProgress struct {
	Pod string `json:"pod"`
	progress.Summary
}

// A target is a pod to ask.
type target struct{ pod, url string }

// targets returns the first pods that may be at work: those of Jobs that have not ended, and
// others that are not ready. A pod in the network of its node is not asked, because it
// may have any port there.
func targets(pods []*corev1.Pod, port string) []target {
	var out []target
	for _, p := range pods {
		open := p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodRunning
		busy := p.Spec.RestartPolicy == corev1.RestartPolicyNever || !ready(p)
		number := portOf(p, port)
		if open && busy && number > 0 && p.Status.PodIP != "" && !p.Spec.HostNetwork && p.DeletionTimestamp == nil {
			out = append(out, target{p.Name, "http://" + net.JoinHostPort(p.Status.PodIP, strconv.Itoa(int(number))) + progress.Path})
		}
	}
	slices.SortFunc(out, func(a, b target) int { return cmp.Compare(a.pod, b.pod) })
	return out[:min(len(out), maxAsked)]
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// portOf returns the number of the port of that name; 0 if the pod has none.
func portOf(p *corev1.Pod, name string) int32 {
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.Name == name {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// newAsker returns a client for pods. It uses no proxy, and follows no redirect to
// another server.
func newAsker() *http.Client {
	return &http.Client{
		Timeout:       askTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil, MaxResponseHeaderBytes: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ask returns the progress of the targets that answer, in their order.
func ask(ctx context.Context, client *http.Client, of []target) []PodProgress {
	answers := make([]progress.Summary, len(of))
	slots := make(chan struct{}, askers)
	var all sync.WaitGroup
	for i, t := range of {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			answers[i] = summary(ctx, client, t.url)
		})
	}
	all.Wait()
	var out []PodProgress
	for i, t := range of {
		if answers[i].Valid() {
			out = append(out, PodProgress{t.pod, answers[i]})
		}
	}
	return out
}

// summary asks one pod. The zero Summary means that it does not answer: it may just
// start, or a network policy may keep others out.
func summary(ctx context.Context, client *http.Client, url string) (s progress.Summary) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return s
	}
	res, err := client.Do(req)
	if err != nil {
		return s
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&s) != nil {
		return progress.Summary{}
	}
	return s
}

// follow asks the targets at intervals until ctx ends, and sends what has lasted from one
// question to the next. Without targets it waits for wake.
func follow(ctx context.Context, wake <-chan struct{}, of func() []target, found chan<- []PodProgress) {
	client := newAsker()
	var before []PodProgress
	for {
		to := of()
		now := ask(ctx, client, to)
		select {
		case found <- lasting(before, now):
		case <-ctx.Done():
			return
		}
		before = now
		next := wake
		if len(to) > 0 {
			next = nil
		}
		select {
		case <-next:
		case <-pause(len(to) > 0):
		case <-ctx.Done():
			return
		}
	}
}

// pause returns a channel that ends a pause between questions; nil never does.
func pause(asked bool) <-chan time.Time {
	if !asked {
		return nil
	}
	return time.After(askEvery)
}
