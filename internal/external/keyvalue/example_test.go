package keyvalue_test

import (
	"context"
	"fmt"
	"os"

	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// Manage a key-value bucket as the providers do: observe, create, observe.
func ExampleClient() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	server, err := nats.Start(ctx, nats.Config{Dir: folder})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	b, err := bus.Connect(ctx, bus.Config{URL: server.ClientURL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()

	client := keyvalue.New(b, nil)
	spec := keyvalue.Spec{Bucket: "settings", History: 3}
	before, err := client.Observe(ctx, spec)
	fmt.Println(before.Exists, err)
	fmt.Println(client.Create(ctx, spec))
	after, err := client.Observe(ctx, spec)
	fmt.Println(after.Exists, after.UpToDate, err)
	// Output:
	// false <nil>
	// <nil>
	// true true <nil>
}
