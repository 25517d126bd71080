package adapter

import (
	"errors"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

// A resource that is missing is polled soon, and one that exists as often as configured.
func TestPollInterval(t *testing.T) {
	m := &v1alpha1.KeyValue{}
	want := func(configured, want time.Duration) {
		t.Helper()
		if got := pollInterval(m, configured); got != want {
			t.Errorf("%v: the interval is %s, want %s", m.GetCondition(xpv2.TypeSynced), got, want)
		}
	}
	want(time.Hour, time.Hour)
	m.SetConditions(xpv2.ReconcileError(errors.New("external resource does not exist")))
	want(time.Hour, missingInterval)
	want(time.Second, time.Second)
	m.SetConditions(xpv2.ReconcileSuccess())
	want(time.Hour, time.Hour)
}
