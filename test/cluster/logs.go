package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/test/waittest"
)

const (
	logLines   = 40 // lines of each program that a failed test prints
	eventLines = 60 // events that a failed test prints
)

// watch makes the test print the logs and events from now on if it fails.
func (c *Cluster) watch(t testing.TB) {
	t.Helper()
	since, begin := c.logSizes(), time.Now()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", c.logs(since), c.events(begin))
		}
	})
}

// Logs returns the last lines of the log of each program.
func (l *logFolder) Logs() string { return l.logs(nil) }

// logSizes returns the sizes of the logs in bytes, by path.
func (l *logFolder) logSizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, path := range l.logFiles() {
		if info, err := os.Stat(path); err == nil {
			sizes[path] = info.Size()
		}
	}
	return sizes
}

func (l *logFolder) logFiles() []string {
	files, _ := filepath.Glob(l.dir.in("logs", "*.log")) // the pattern is valid
	return files
}

// logs returns the last lines of each log after the given offsets in bytes.
func (l *logFolder) logs(from map[string]int64) string {
	var b strings.Builder
	for _, path := range l.logFiles() {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		lines := bytes.Split(bytes.TrimSpace(raw[min(from[path], int64(len(raw))):]), []byte("\n"))
		lines = slices.DeleteFunc(lines, isRoutine)
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(path), bytes.Join(lines[max(0, len(lines)-logLines):], []byte("\n")))
	}
	return b.String()
}

// isRoutine reports whether a line is empty, or an info or warning of Kubernetes, such as
// "I0131 12:00:00 ..." and "W0131 12:00:00 ...".
func isRoutine(line []byte) bool {
	return len(line) == 0 || len(line) > 5 && line[5] == ' ' && (line[0] == 'I' || line[0] == 'W')
}

// events returns the events of all namespaces since then, oldest first.
func (ob *objects) events(since time.Time) string {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit(5*time.Second))
	defer cancel()
	var list corev1.EventList
	if err := ob.client.List(ctx, &list); err != nil {
		return fmt.Sprintf("cannot list events: %v", err)
	}
	recent := slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return happened(e).Before(since.Add(-time.Second)) })
	slices.SortFunc(recent, func(a, b corev1.Event) int { return happened(a).Compare(happened(b)) })
	var b strings.Builder
	b.WriteString("== events\n")
	for _, e := range recent[max(0, len(recent)-eventLines):] {
		o := e.InvolvedObject
		fmt.Fprintf(&b, "%s %s %s/%s %s/%s: %s\n", happened(e).Format(time.TimeOnly), e.Type, o.Namespace, o.Kind, o.Name, e.Reason, e.Message)
	}
	return b.String()
}

func happened(e corev1.Event) time.Time {
	if !e.EventTime.IsZero() {
		return e.EventTime.Time
	}
	if !e.LastTimestamp.IsZero() {
		return e.LastTimestamp.Time
	}
	return e.CreationTimestamp.Time
}
