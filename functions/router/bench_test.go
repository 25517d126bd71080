package router_test

import (
	"fmt"
	"maps"
	"net"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

func size(n int) string { return fmt.Sprintf("%d", n) }

// ingressOf is an Ingress with n live sessions, all composed and settled, as
// Crossplane asks about it again and again.
func ingressOf(t testing.TB, n int) *fnv1.RunFunctionRequest {
	t.Helper()
	keys := make([]any, n)
	for i := range keys {
		keys[i] = map[string]any{"key": fmt.Sprintf("ns_model-%d", i), "model": fmt.Sprintf("model-%d", i)}
	}
	return settle(t, map[string]any{
		"apiVersion": "koldun.gorizond.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": "i", "namespace": "ns"},
		"spec":     map[string]any{"backend": map[string]any{"replicaPower": 2.0, "rootImage": "dllama"}},
	}, map[string]map[string]any{"demanded": {"sessions": keys}})
}

// sessionOf is a Session with n members.
func sessionOf(t testing.TB, n int) *fnv1.RunFunctionRequest {
	t.Helper()
	members := make([]any, n)
	for i := range members {
		members[i] = map[string]any{"name": fmt.Sprint(i), "phase": "Active", "ready": true}
	}
	return settle(t, map[string]any{
		"apiVersion": "koldun.gorizond.io/v1", "kind": "Session",
		"metadata": map[string]any{"name": "s", "namespace": "ns", "labels": map[string]any{"koldun.gorizond.io/ingress": "i"}},
		"spec":     map[string]any{"modelRef": map[string]any{"name": "m"}, "rootImage": "dllama", "replicaPower": 2.0},
	}, map[string]map[string]any{"pool": {"members": members}})
}

// settle composes until nothing changes, with every composed resource ready and
// atProvider by the names of resources.
func settle(t testing.TB, xr map[string]any, atProvider map[string]map[string]any) *fnv1.RunFunctionRequest {
	t.Helper()
	composite, err := structpb.NewStruct(xr)
	if err != nil {
		t.Fatal(err)
	}
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}, Resources: map[string]*fnv1.Resource{}}}
	f := router.New(compose.Config{Image: "koldun", Trusted: true})
	for range 4 {
		rsp, err := f.RunFunction(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range rsp.GetDesired().GetResources() {
			status := map[string]any{
				"conditions": []any{
					map[string]any{"type": "Ready", "status": "True", "reason": "Available"},
					map[string]any{"type": "Serving", "status": "True", "reason": "Available"},
				},
				"readyReplicas": 2.0,
			}
			if p, ok := atProvider[name]; ok {
				status["atProvider"] = maps.Clone(p)
			}
			s, err := structpb.NewStruct(status)
			if err != nil {
				t.Fatal(err)
			}
			observed := proto.CloneOf(r.GetResource())
			observed.Fields["status"] = structpb.NewStructValue(s)
			req.Observed.Resources[name] = &fnv1.Resource{Resource: observed}
		}
	}
	return req
}

// BenchmarkGRPC is what Crossplane waits for: the same over a connection.
func BenchmarkGRPC(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	fnv1.RegisterFunctionRunnerServiceServer(server, router.New(compose.Config{Image: "koldun", Trusted: true}))
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	client := fnv1.NewFunctionRunnerServiceClient(conn)
	for name, req := range map[string]*fnv1.RunFunctionRequest{"Ingress64": ingressOf(b, 64), "Session64": sessionOf(b, 64)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(proto.Size(req)))
			for b.Loop() {
				if _, err := client.RunFunction(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
