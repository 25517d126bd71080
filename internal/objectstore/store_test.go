package objectstore_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/objectstore/storetest"
)

func TestMain(m *testing.M) { s3test.Main(m) }

func TestDirConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		dir := t.TempDir() + "/not/yet/there"
		return func() objectstore.Store {
			s, err := objectstore.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

func TestS3Conforms(t *testing.T) { conforms(t, false) }

func TestPlainS3Conforms(t *testing.T) { conforms(t, true) }

func conforms(t *testing.T, plain bool) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		bucket := s3test.New(t)
		return func() objectstore.Store {
			cfg := bucket.Config
			cfg.PlainParts = plain
			s, err := objectstore.OpenS3(t.Context(), bucket.Name, "models/a", cfg)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
