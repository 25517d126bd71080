package dir_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/fault"
)

// Write an object and read a part of it.
func ExampleOpen() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()

	store, err := dir.Open(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := store.Put(ctx, "models/readme.txt", []byte("Hello")); err != nil {
		fmt.Println(err)
		return
	}
	r, err := store.Open(ctx, "models/readme.txt", 1, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	part, err := io.ReadAll(r)
	_ = r.Close()
	fmt.Printf("%s %v\n", part, err)

	_, err = store.Stat(ctx, "models/other.txt")
	fmt.Println(fault.KindOf(err))
	// Output:
	// ell <nil>
	// NotFound
}
