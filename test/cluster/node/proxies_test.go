package node

import (
	"context"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names of Services are replaced by loopback addresses, the same each time, and other
// text stays.
func TestNamesBecomeAddresses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var asked []serviceName
	d := newProxies(ctx, func(to serviceName) []string {
		asked = append(asked, to)
		return nil
	})
	t.Cleanup(func() {
		cancel()
		d.close()
	})
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	for text, want := range map[string]string{
		"http://web.ns.svc.cluster.local:80/v1":         "http://ADDRESS/v1",
		"--workers=db-0.db.ns.svc:99,db-1.db.ns.svc:99": "--workers=ADDRESS,ADDRESS",
		"web.ns.svc:80":          "ADDRESS",
		"web.ns.svc":             "web.ns.svc",
		"web.ns.svc.example:80":  "web.ns.svc.example:80",
		"nats://nats:4222":       "nats://nats:4222",
		"http://127.0.0.1:80/v1": "http://ADDRESS/v1", // as it was
	} {
		got, err := d.replace(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := address.ReplaceAllString(got, "ADDRESS"); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if len(asked) != 3 {
		t.Errorf("requested endpoints: %v", asked)
	}
	want := map[serviceName]bool{
		{service: "web", namespace: "ns", port: 80}:             true,
		{pod: "db-0", service: "db", namespace: "ns", port: 99}: true,
		{pod: "db-1", service: "db", namespace: "ns", port: 99}: true,
	}
	got := map[serviceName]bool{}
	for _, to := range asked {
		got[to] = true
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(serviceName{})); diff != "" {
		t.Error(diff)
	}
	if _, err := d.replace("web.ns.svc:99999"); err == nil {
		t.Error("99999 is taken for a port")
	}
}
