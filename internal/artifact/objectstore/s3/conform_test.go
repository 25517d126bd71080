package s3_test

import (
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/artifact/objectstore/storetest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
)

func TestMain(m *testing.M) { s3test.Main(m) }

func TestConforms(t *testing.T) { conforms(t, false) }

func TestPlainPartsConform(t *testing.T) { conforms(t, true) }

func conforms(t *testing.T, plain bool) {
	t.Helper()
	storetest.Run(t, func(t *testing.T) func() objectstore.Store {
		bucket := s3test.New(t)
		return func() objectstore.Store {
			cfg := bucket.Config
			cfg.PlainParts = plain
			s, err := s3.Open(t.Context(), bucket.Name, "models/a", cfg)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
