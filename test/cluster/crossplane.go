package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SystemNamespace is the namespace of Crossplane's objects.
const SystemNamespace = "crossplane-system"

// Names of the Secrets in which Crossplane keeps its certificates.
const (
	secretRootCA = "crossplane-root-ca"
	secretServer = "crossplane-tls-server"
	secretClient = "crossplane-tls-client"
)

// webhookService is the Service through which the API server reaches core's webhooks.
const webhookService = "crossplane-webhooks"

// start does what Crossplane's Helm chart and Deployments do, and returns
// when core is ready.
func (x *crossplaneRelease) start(ctx context.Context, coreArgs []string) error {
	free, err := Ports(3)
	if err != nil {
		return err
	}
	webhookPort, metricsPort, healthPort := free[0], free[1], free[2]
	files := filepath.Join(x.bin, crossplane+".d")
	// The init container applies them too, but fails if the API server does not
	// serve them at once.
	if err := x.applyFiles(ctx, filepath.Join(files, "crds")); err != nil {
		return err
	}
	if err := x.applyChart(ctx, filepath.Join(files, "chart")); err != nil {
		return err
	}
	core, err := x.serviceAccountEnv(ctx, "crossplane")
	if err != nil {
		return err
	}
	rbac, err := x.serviceAccountEnv(ctx, "rbac-manager")
	if err != nil {
		return err
	}
	core = append(core,
		"WEBHOOK_SERVICE_NAME="+webhookService, "WEBHOOK_SERVICE_NAMESPACE="+SystemNamespace,
		"WEBHOOK_SERVICE_PORT="+strconv.Itoa(webhookPort),
		"TLS_CA_SECRET_NAME="+secretRootCA, "TLS_SERVER_SECRET_NAME="+secretServer, "TLS_CLIENT_SECRET_NAME="+secretClient,
		"TLS_SERVER_CERTS_DIR="+x.dir.in(secretServer), "TLS_CLIENT_CERTS_DIR="+x.dir.in(secretClient),
		"CRDS_PATH="+filepath.Join(files, "crds"), "WEBHOOK_CONFIGS_PATH="+filepath.Join(files, "webhookconfigurations"),
	)
	if err := x.runInit(ctx, core); err != nil {
		return err
	}
	for _, name := range []string{secretServer, secretClient} {
		if err := x.mountSecret(ctx, name); err != nil {
			return err
		}
	}
	x.metrics = "http://" + loopback(metricsPort) + "/metrics"
	x.core = x.programs.add("crossplane", crossplane, core, append([]string{
		"core", "start",
		"--package-runtime=Function=External;Provider=External",
		"--xpkg-cache-dir=" + x.dir.in("xpkg"), "--xfn-cache-dir=" + x.dir.in("xfn"),
		"--webhook-port=" + strconv.Itoa(webhookPort),
		"--metrics-port=" + strconv.Itoa(metricsPort),
		"--health-probe-port=" + strconv.Itoa(healthPort),
	}, append(debugArgs(), coreArgs...)...)...)
	x.rbac = x.programs.add("crossplane-rbac-manager", crossplane, rbac, append([]string{
		"rbac", "start", "--provider-clusterrole=crossplane:allowed-provider-permissions",
	}, debugArgs()...)...)
	if err := errors.Join(os.Mkdir(x.dir.in("xpkg"), 0o700), os.Mkdir(x.dir.in("xfn"), 0o700), x.core.Start(), x.rbac.Start()); err != nil {
		return err
	}
	return x.programs.awaitHTTP(ctx, crossplane, "http://"+loopback(healthPort)+"/readyz")
}

// debugging reports whether Crossplane logs every reconcile and the API server serves
// profiles at /debug/pprof.
func debugging() bool { return os.Getenv("KOLDUN_CLUSTER_DEBUG") == "1" }

// debugArgs returns the arguments that make Crossplane log every reconcile, if
// requested.
func debugArgs() []string {
	if debugging() {
		return []string{"--debug"}
	}
	return nil
}

// applyChart applies the Helm chart without its Deployments, and waits until the
// ClusterRoles have their aggregated rules.
func (x *crossplaneRelease) applyChart(ctx context.Context, dir string) error {
	manifests, err := renderChart(dir, SystemNamespace)
	if err != nil {
		return err
	}
	// The API server reaches core on loopback, which endpoints may not name.
	service := fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: %s}, spec: {type: ExternalName, externalName: localhost}}",
		webhookService, SystemNamespace)
	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: " + SystemNamespace + "}}"
	if err := x.objects.ApplyIn(ctx, SystemNamespace, append([]string{namespace, service}, manifests...)...); err != nil {
		return err
	}
	return x.programs.Await(ctx, crossplane, func(ctx context.Context) error {
		var role rbacv1.ClusterRole
		if err := x.client.Get(ctx, client.ObjectKey{Name: "crossplane"}, &role); err != nil {
			return err
		}
		if len(role.Rules) == 0 {
			return fmt.Errorf("ClusterRole %q has no rules yet", role.Name)
		}
		return nil
	})
}

// applyFiles applies the YAML files of a folder.
func (x *crossplaneRelease) applyFiles(ctx context.Context, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	var manifests []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot read manifest: %w", err)
		}
		manifests = append(manifests, string(raw))
	}
	return x.objects.Apply(ctx, manifests...)
}

// serviceAccountEnv returns the environment of a program that runs as the service
// account in Crossplane's namespace.
func (x *crossplaneRelease) serviceAccountEnv(ctx context.Context, name string) ([]string, error) {
	path, err := x.serviceAccountKubeconfig(ctx, name)
	if err != nil {
		return nil, err
	}
	return append(collectLess(),
		"KUBECONFIG="+path,
		"POD_NAMESPACE="+SystemNamespace,
		"POD_SERVICE_ACCOUNT="+name,
		"HOME="+x.dir.path,
		"PATH="+os.Getenv("PATH"),
	), nil
}

// serviceAccountKubeconfig writes a kubeconfig with a token of the service account in
// Crossplane's namespace, and returns its path.
func (x *crossplaneRelease) serviceAccountKubeconfig(ctx context.Context, name string) (string, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: name}}
	seconds := int64(validity.Seconds())
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := x.client.SubResource("token").Create(ctx, sa, token); err != nil {
		return "", fmt.Errorf("cannot get token of service account %q: %w", name, err)
	}
	path := x.dir.in(name + ".kubeconfig")
	return path, writeKubeconfig(path, x.config, token.Status.Token)
}

// runInit runs the init container of Crossplane's core until it
// succeeds, as a kubelet would.
func (x *crossplaneRelease) runInit(ctx context.Context, env []string) error {
	p := &Process{
		name: "crossplane-init",
		path: filepath.Join(x.bin, crossplane),
		args: []string{"core", "init", "--activation=*"}, // the chart's default
		env:  env,
		log:  x.dir.in("logs", "crossplane-init.log"),
	}
	defer p.Kill()
	return x.programs.Await(ctx, p.name, func(ctx context.Context) error {
		if err := p.Start(); err != nil {
			return err
		}
		return p.wait(ctx)
	})
}

// mountSecret writes a Secret to the folder of the same name, as a kubelet mounts it.
func (x *crossplaneRelease) mountSecret(ctx context.Context, name string) error {
	var s corev1.Secret
	if err := x.client.Get(ctx, client.ObjectKey{Namespace: SystemNamespace, Name: name}, &s); err != nil {
		return fmt.Errorf("cannot get Secret %q: %w", name, err)
	}
	if err := writeFiles(x.dir.in(name), s.Data); err != nil {
		return fmt.Errorf("cannot write Secret %q: %w", name, err)
	}
	return nil
}
