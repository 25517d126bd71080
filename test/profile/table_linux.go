package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Columns of the table, in their order.
const (
	compile    = "compile"
	link       = "link"
	tests      = "tests"
	racedTests = "tests, raced"
	apiServer  = "kube-apiserver"
	etcd       = "etcd"
	crossplane = "Crossplane"
	ours       = "Koldun"
	others     = "others"
)

func columns() []string {
	return []string{compile, link, tests, racedTests, apiServer, etcd, crossplane, ours, others}
}

func header() string {
	titles := append([]string{"suite", "wall", "CPU"}, columns()...)
	titles = append(titles, "short-lived", "control planes")
	return "| " + strings.Join(titles, " | ") + " |\n|" + strings.Repeat(" --- |", len(titles))
}

func (m measurement) row(name string) string {
	cells := []string{name, seconds(m.wall), seconds(m.total)}
	seen := time.Duration(0)
	for _, c := range columns() {
		cells = append(cells, seconds(m.byColumn[c]))
		seen += m.byColumn[c]
	}
	cells = append(cells, seconds(max(0, m.total-seen)), fmt.Sprint(m.controlPlanes))
	return "| " + strings.Join(cells, " | ") + " |"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }

// programs returns lines with the CPU time of the programs that took most.
func (m measurement) programs(name string, count int) string {
	names := slices.SortedFunc(maps.Keys(m.byProgram), func(a, b string) int { return cmp.Compare(m.byProgram[b], m.byProgram[a]) })
	var b strings.Builder
	for _, n := range names[:min(count, len(names))] {
		b.WriteString(name + ": " + seconds(m.byProgram[n]) + " s in " + n + "\n")
	}
	return b.String()
}
