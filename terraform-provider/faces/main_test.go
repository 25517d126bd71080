// Package faces proves that the Crossplane provider and the Terraform provider
// do the same: each case goes through both, against fresh servers, and what the
// servers hold afterwards is compared.
package faces

import (
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster/controllers"
)

// shared is the control plane and the Crossplane provider of all scenes.
var shared controllers.Shared

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}
