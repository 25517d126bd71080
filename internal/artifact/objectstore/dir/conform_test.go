package dir_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storetest"
)

func TestConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		folder := t.TempDir() + "/not/yet/there"
		return func() objectstore.Store {
			s, err := dir.Open(folder)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
