package manager_test

import (
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster/controllers"
)

// shared is the control plane and the provider that most tests use.
var shared = controllers.New()

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}
