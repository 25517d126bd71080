package egress_test

import (
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/network/egress"
)

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		scheme, servers string
		want            []int32
	}{
		{"nats", "nats://a, tls://b:4223,c,d:4222", []int32{4222, 4223}},
		{"nats", "ws://a,WSS://b", []int32{80, 443}},
		{"https", "s3.example", []int32{443}},
		{"https", "http://[fd00::1]/path", []int32{80}},
		{"https", "http://u:p@h:9000", []int32{9000}},
		{"tcp", "w-0.w.ns.svc:9990,w-1.w.ns.svc:9990", []int32{9990}},
		{"tcp", "host", nil},
		{"https", "h:0,h:70000,h:x,:,://", nil},
		{"https", "", nil},
	} {
		if got := egress.Ports(c.scheme, c.servers); !slices.Equal(got, c.want) {
			t.Errorf("%s: the ports are %v, want %v", c.servers, got, c.want)
		}
	}
}

func TestMentioned(t *testing.T) {
	got := egress.Mentioned("--traces=http://otel:4317/v1,https://other", "nothing: here", `{"proxy": "http://proxy:3128"}`, "s3://bucket/key", "https://again")
	if want := []int32{443, 3128, 4317}; !slices.Equal(got, want) {
		t.Errorf("the ports are %v, want %v", got, want)
	}
}
