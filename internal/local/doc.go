// Package local runs claims on one machine: a small control plane and kubelet in
// one process.
//
// It keeps a table of objects in memory. A [Composer] composes composites
// (koldun.gorizond.io) with the code that Crossplane runs in a cluster, and a
// [Managed] reconciles managed resources (koldun.m.gorizond.io). Jobs, Deployments
// and StatefulSets with Koldun's image become child processes, and Services become
// ports of the loopback interface. Other objects stay in the table and are
// reported as not run here.
//
// One goroutine owns the table and its units. Other goroutines (processes,
// managed resources, proxies) post functions to it. It composes everything that
// depends on a change until nothing changes.
package local
