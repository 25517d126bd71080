package node_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/node"
)

var shared = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true}} //nolint:gochecknoglobals // stops with the binary

// TestMain also runs this binary as the program of containers.
func TestMain(m *testing.M) {
	process.ExitWithParent()
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "role-") {
		os.Exit(play(os.Args[1], os.Args[2:]))
	}
	os.Exit(shared.Main(m))
}

func play(role string, args []string) int {
	switch role {
	case "role-exit":
		var status int
		_, _ = fmt.Sscan(args[0], &status)
		return status
	case "role-copy": // a program to a folder
		exe, _ := os.Executable()
		raw, err := os.ReadFile(exe)
		if err == nil {
			err = os.WriteFile(args[0], raw, 0o700)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return serve(ctx, args)
}

// serve answers with its configured text until SIGTERM, and then writes a file with the
// pod's name.
func serve(ctx context.Context, args []string) int {
	exe, _ := os.Executable()
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, os.Getenv("POD_NAME"), os.Getenv("WORD"), filepath.Base(exe), args[1:])
	})
	server := &http.Server{Addr: args[0], Handler: mux}
	go func() { _ = server.ListenAndServe() }()
	<-ctx.Done()
	if err := os.WriteFile(filepath.Join(os.Getenv("ENDS"), os.Getenv("POD_NAME")), nil, 0o600); err != nil {
		return 1
	}
	return 0
}

const image = "koldun:test"

// start starts a node whose pods write their files to ends.
func start(t *testing.T) (c *cluster.Cluster, n *node.Node, ns, ends string) {
	t.Helper()
	c = shared.Cluster(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ends = t.TempDir()
	n = node.Start(t, c.Config(), node.Options{
		Image: image, Binary: exe, Programs: map[string]string{"other:test": t.TempDir()}, Env: []string{"ENDS=" + ends},
	})
	return c, n, c.Namespace(t), ends
}

const serving = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: api}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      volumes: [{name: bin, emptyDir: {}}]
      initContainers:
      - {name: install, image: 'koldun:test', args: [role-copy, $(KOLDUN_DIR_BIN)/program], volumeMounts: [{name: bin, mountPath: /koldun}]}
      containers:
      - name: web
        image: other:test
        command: [$(KOLDUN_DIR_BIN)/program]
        args: [role-serve, ':$(KOLDUN_PORT_API)', --peer=http://db-0.db.$(NS).svc:5432/]
        env:
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: WORD, valueFrom: {secretKeyRef: {name: words, key: word}}}
        ports: [{name: api, containerPort: 8082}]
        readinessProbe: {httpGet: {path: /readyz, port: api}}
        volumeMounts: [{name: bin, mountPath: /koldun}]
`

const secret = `{apiVersion: v1, kind: Secret, metadata: {name: words}, stringData: {word: hello}}`

// TestServes tests pods behind a Service: they wait for a Secret, serve under the
// Service's name, restart when killed, and end gracefully.
func TestServes(t *testing.T) {
	c, n, ns, ends := start(t)
	ctx := t.Context()
	if err := c.ApplyIn(ctx, ns, serving); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the pods to wait for their Secret", func(ctx context.Context) error {
		for _, p := range pods(ctx, c, ns) {
			if s := p.Status.ContainerStatuses; len(s) == 1 && s[0].State.Waiting != nil && strings.Contains(s[0].State.Waiting.Message, `"words"`) {
				return nil
			}
		}
		return errors.New("no pod says so")
	})
	if err := c.ApplyIn(ctx, ns, secret); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the pods to be ready", ready(c, ns, 2))

	answers := map[string]bool{}
	cluster.Eventually(t, "both pods to answer", func(ctx context.Context) error {
		answer, err := get(ctx, n, "http://web."+ns+".svc.cluster.local:80/")
		if err != nil {
			return err
		}
		name, rest, _ := strings.Cut(answer, " ")
		answers[name] = true
		if !strings.HasPrefix(rest, "hello program [--peer=http://127.0.0.1:") {
			t.Fatalf("the answer is %q", answer)
		}
		if len(answers) != 2 {
			return fmt.Errorf("only these pods answer: %v", answers)
		}
		return nil
	})

	victim := pods(ctx, c, ns)[0]
	if !n.Kill(ns, victim.Name, "web") {
		t.Errorf("pod %q does not run", victim.Name)
	}
	cluster.Eventually(t, "the container to run again", func(ctx context.Context) error {
		for _, p := range pods(ctx, c, ns) {
			s := p.Status.ContainerStatuses
			if p.UID != victim.UID || len(s) == 0 || s[0].RestartCount == 0 || !s[0].Ready {
				continue
			}
			if end := s[0].LastTerminationState.Terminated; end == nil || end.ExitCode != 137 {
				t.Fatalf("the container ended with %+v, want status 137", end)
			}
			return nil
		}
		return errors.New("it was not started again")
	})

	names := pods(ctx, c, ns)
	var d appsv1.Deployment
	if err := c.Client().Get(ctx, client.ObjectKey{Namespace: ns, Name: "web"}, &d); err != nil {
		t.Fatal(err)
	}
	if err := c.Client().Delete(ctx, &d); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the pods to be gone", func(ctx context.Context) error {
		if left := pods(ctx, c, ns); len(left) > 0 {
			return fmt.Errorf("%d pods remain", len(left))
		}
		return nil
	})
	for _, p := range names {
		if _, err := os.Stat(filepath.Join(ends, p.Name)); err != nil {
			t.Errorf("pod %q received no SIGTERM: %v", p.Name, err)
		}
	}
}

const jobs = `
apiVersion: batch/v1
kind: Job
metadata: {name: works}
spec:
  template:
    spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: job, image: 'koldun:test', args: [role-exit, '0']}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: fails}
spec:
  backoffLimit: 3
  podFailurePolicy:
    rules: [{action: FailJob, onExitCodes: {operator: In, values: [12]}}]
  template:
    spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: job, image: 'koldun:test', args: [role-exit, '12']}]}
`

// TestJobs tests that a Job ends like its containers, which run once each.
func TestJobs(t *testing.T) {
	c, _, ns, _ := start(t)
	if err := c.ApplyIn(t.Context(), ns, jobs); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]batchv1.JobConditionType{"works": batchv1.JobComplete, "fails": batchv1.JobFailed} {
		cluster.Eventually(t, fmt.Sprintf("Job %q to be %s", name, want), func(ctx context.Context) error {
			var job batchv1.Job
			if err := c.Client().Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &job); err != nil {
				return err
			}
			for _, cond := range job.Status.Conditions {
				if cond.Type == want && cond.Status == corev1.ConditionTrue {
					if n := job.Status.Succeeded + job.Status.Failed; n != 1 {
						t.Fatalf("the container ran %d times", n)
					}
					return nil
				}
			}
			return fmt.Errorf("its status is %+v", job.Status)
		})
	}
}

const set = `
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {app: db}, ports: [{name: api, port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      automountServiceAccountToken: false
      containers:
      - name: db
        image: koldun:test
        args: [role-serve, ':$(KOLDUN_PORT_API)']
        env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        ports: [{name: api, containerPort: 5432}]
        readinessProbe: {httpGet: {path: /readyz, port: api}}
`

// TestPodsHaveNames tests that each pod of a StatefulSet answers under its name.
func TestPodsHaveNames(t *testing.T) {
	c, n, ns, _ := start(t)
	if err := c.ApplyIn(t.Context(), ns, set); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the pods to be ready", ready(c, ns, 2))
	for _, name := range []string{"db-0", "db-1"} {
		answer, err := get(t.Context(), n, "http://"+name+".db."+ns+".svc:5432/")
		if err != nil || !strings.HasPrefix(answer, name+" ") {
			t.Errorf("%s answers %q, %v", name, answer, err)
		}
	}
}

func pods(ctx context.Context, c *cluster.Cluster, ns string) []corev1.Pod {
	var list corev1.PodList
	if err := c.Client().List(ctx, &list, client.InNamespace(ns)); err != nil {
		return nil
	}
	return list.Items
}

// ready returns a check that fails unless the wanted number of pods is ready.
func ready(c *cluster.Cluster, ns string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		got, why := 0, ""
		for _, p := range pods(ctx, c, ns) {
			for _, cond := range p.Status.Conditions {
				if cond.Type == corev1.PodReady && cond.Status == corev1.ConditionTrue {
					got++
				}
			}
			why = p.Status.Message
		}
		if got != want {
			return fmt.Errorf("%d are ready, want %d: %s", got, want, why)
		}
		return nil
	}
}

func get(ctx context.Context, n *node.Node, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	rsp, err := n.HTTP().Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = rsp.Body.Close() }()
	raw, err := io.ReadAll(rsp.Body)
	return string(raw), err
}
