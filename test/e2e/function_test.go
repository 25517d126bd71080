package e2e_test

import (
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"testing"
)

// serveFunction runs the program of our Function as a pod of it would, with
// mutual TLS, until the flavour's test ends, and leads Crossplane to it.
func (p *proof) serveFunction(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "koldun-function")
	run(t, "go", "build", "-o", program, repository+"/functions")
	if err := p.FunctionCertificates(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()

	var output bytes.Buffer
	function := exec.CommandContext(t.Context(), program, "--address", address, "--tls-certs-dir", dir, "--image", image)
	function.Stdout, function.Stderr = &output, &output
	if err := function.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // t's context has ended, and with it the program
		_ = function.Wait()
		if t.Failed() {
			t.Logf("the Function said:\n%s", output.Bytes())
		}
	})
	if err := p.ConnectFunction(t.Context(), functionName, address); err != nil {
		t.Fatal(err)
	}
}
