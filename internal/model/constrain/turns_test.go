package constrain_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// TestCacheTakesTurns compiles the form of a tenant after at most one of another, however
// many that has asked for.
func TestCacheTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := constrain.NewCache()
		var order []string
		var all sync.WaitGroup
		begun, goOn := make(chan struct{}), make(chan struct{})
		compile := func(key string) {
			_, err := c.Get(t.Context(), key[:1], key, func(context.Context) (*constrain.Grammar, error) {
				order = append(order, key)
				if len(order) == 1 {
					close(begun)
					<-goOn
				}
				return constrain.Object(), nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		all.Go(func() { compile("a0") })
		<-begun
		for _, key := range []string{"a1", "a2", "a3", "b1", "c1", "b2"} {
			all.Go(func() { compile(key) })
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := c.Get(gone, "d", "d1", nil); err == nil {
				t.Error("a request that is gone gets a form")
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(goOn)
		all.Wait()
		if want := []string{"a0", "a1", "b1", "c1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
			t.Errorf("the order is %s, want %s", fmt.Sprint(order), fmt.Sprint(want))
		}
	})
}
