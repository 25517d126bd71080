package e2e_test

import (
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// programs holds the paths of Koldun's programs.
type programs struct{ function, provider, koldun string }

// program builds one of Koldun's programs and returns its path.
func program(t *testing.T, folder string) string {
	t.Helper()
	path, err := platform.Build(t.Context(), repository, folder)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build builds all of them.
func build(t *testing.T) programs {
	t.Helper()
	return programs{function: program(t, "functions"), provider: program(t, "provider"), koldun: program(t, "cmd/koldun")}
}

// serveFunction runs the program of the Function with mutual TLS, as its pod does, and
// connects Crossplane to it.
func (i *installer) serveFunction(t *testing.T) {
	t.Helper()
	dir := filepath.Join(i.Dir(), "function") // of the cluster, as the process ends with it
	if err := i.FunctionCertificates(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	address := porttest.Address(t)
	var err error
	if i.function, err = i.Run("koldun-function", i.programs.function, nil,
		"--address", address, "--tls-certs-dir", dir, "--image", image); err != nil {
		t.Fatal(err)
	}
	if err := i.ConnectFunction(t.Context(), functionName, address); err != nil {
		t.Fatal(err)
	}
}
