package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// writeEnv writes a shell environment file, readable only by its owner, and the
// settings with which Terraform and OpenTofu find the provider in bin/.
func writeEnv(path, root string, p *platform.Platform, o platform.Services) error {
	settings := filepath.Join(p.Dir(), "tofurc")
	overrides := fmt.Sprintf("provider_installation {\n  dev_overrides { \"gorizond/koldun\" = %q }\n  direct {}\n}\n", filepath.Join(root, "bin"))
	if err := os.WriteFile(settings, []byte(overrides), 0o600); err != nil {
		return fmt.Errorf("cannot write settings: %w", err)
	}
	var b strings.Builder
	for _, v := range [][2]string{
		{"KUBECONFIG", p.Kubeconfig()},
		{"TF_CLI_CONFIG_FILE", settings},
		{"NATS_OPERATOR_URL", o.NATS.URL}, {"NATS_OPERATOR_SIGNING_KEY", string(o.Operator[natsauth.SecretSigning])},
		{"NATS_OPERATOR_SYSTEM_CREDS", string(o.Operator[natsauth.SecretSystem])}, {"NATS_OPERATOR_ACCOUNTS_KEY", string(o.Operator[natsauth.SecretAccounts])},
		{names.EnvS3Endpoint, o.S3.Endpoint}, {names.EnvS3Region, o.S3.Region},
		{names.EnvS3AccessKey, o.S3.AccessKey}, {names.EnvS3SecretKey, o.S3.SecretKey},
	} {
		fmt.Fprintf(&b, "export %s='%s'\n", v[0], v[1])
	}
	// Append the programs that make has built, such as tofu, after the user's own.
	fmt.Fprintf(&b, "export PATH=\"$PATH:%s\"\n", filepath.Join(root, "bin"))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("cannot write environment: %w", err)
	}
	return nil
}
