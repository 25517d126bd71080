// Package parity proves that the Crossplane provider, the Terraform provider and
// koldun up do the same: each scene is played by all of them, on servers of its
// own, and the contents of the servers are compared.
package parity

import (
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster/controllers"
)

// shared is the control plane and the Crossplane provider of all scenes.
var shared = controllers.New()

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}
