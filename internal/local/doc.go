// Package local runs claims on one machine: a control plane and a kubelet,
// both very small, in one process.
//
// It keeps one table of objects in memory. Composites (koldun.gorizond.io) are
// expanded by a [Composer], which is the code that Crossplane runs in a
// cluster; managed resources (koldun.m.gorizond.io) are brought about by a
// [Managed]; Jobs, Deployments and StatefulSets of our own image become child
// processes of this one, and Services become ports of the loopback interface.
// Everything else is kept in the table and reported as not run here.
//
// One goroutine owns the table and all that hangs on it. Others (processes,
// managed resources, proxies) tell it what they see by posting functions to
// it, and it composes again whatever depends on what has changed, until
// nothing changes any more.
package local
