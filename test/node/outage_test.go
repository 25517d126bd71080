package node_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// TestOutage takes the object store away in the middle of a download. The Model says so, and
// the same Job continues with what the store has when it is back.
func TestOutage(t *testing.T) {
	w := koldun(t)
	const claim, model = "testdata/slow.yaml", "model/slow"
	tell("An outage: the object store goes away in the middle of a download.")
	before := w.services.sent(t)
	began := time.Now()
	tell("kubectl apply -f %s: a download at 2 MiB/s", claim)
	w.Kubectl(t, "apply", "-f", claim)
	const size = 48 << 20
	cluster.Eventually(t, "a quarter of the download", func(context.Context) error {
		if n := w.services.sent(t) - before; n < size/4 {
			return fmt.Errorf("%d bytes are sent", n)
		}
		return nil
	})
	tell("The hub has sent %d of %d MiB: the object store is killed", (w.services.sent(t)-before)>>20, size>>20)
	back, away := w.faults.storeAway(t), time.Now()
	var says string
	cluster.Eventually(t, "the Model to tell of the outage", func(ctx context.Context) error {
		var err error
		says, err = w.RunKubectl(ctx, "get", model, `--output=jsonpath={.status.conditions[?(@.type=="Serving")].message}`)
		if err == nil && !strings.Contains(says, "s3.s3.svc") {
			err = fmt.Errorf("it says %q", says)
		}
		return err
	})
	tell("After %s the Model says: %s", time.Since(away).Round(time.Second), says)
	back()
	tell("The object store is back after %s", time.Since(away).Round(time.Second))
	w.claims.holds(t, "default", model, "Ready")
	tell("The Model is ready after %s: %s", time.Since(began).Round(time.Second), strings.TrimSpace(w.Kubectl(t, "get", model, "--no-headers")))
	// What the two connections have read of their parts when the store goes, they may read
	// again, and a part once more whose answer was lost.
	const parts = 4 * 5 << 20
	sent := w.services.sent(t) - before
	tell("The hub has sent %d of %d MiB", sent>>20, size>>20)
	if sent < size || sent > size+parts {
		t.Errorf("the hub has sent %d bytes of a model of %d", sent, size)
	}
	w.claims.deleted(t, claim)
}

// sent returns the bytes that the hub has sent of the slow model.
func (s *services) sent(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(s.Kubectl(t, "get", "--raw", "/api/v1/namespaces/hub/services/hub:8080/proxy/sent/koldun-slow"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
