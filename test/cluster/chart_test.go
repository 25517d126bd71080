package cluster_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// render returns a function that renders the chart, as for a cluster without anything.
func render(t *testing.T, kubeconfig string) func(args ...string) (string, error) {
	t.Helper()
	helm, err := platform.NewHelm("../..", kubeconfig, t.TempDir())
	if err != nil {
		cluster.Missing(t, "helm", "make bin/helm")
	}
	chart, err := platform.Chart(t.Context(), "../..", t.TempDir(), platform.Unreleased)
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) (string, error) {
		return helm.Run(t.Context(), "template", append([]string{chart}, args...)...)
	}
}

// TestChartRefusesWrongValues tests that Helm names what is wrong before it creates
// anything.
func TestChartRefusesWrongValues(t *testing.T) {
	template := render(t, "/nowhere")
	for set, want := range map[string]string{
		"flavour=both":                                           "flavour",
		"flavor=claims":                                          "flavor",
		"packages.tags=v1":                                       "tags",
		"packages.tag=v 1":                                       "tag",
		"packages.function.digest=sha256:12":                     "digest",
		"provider.replicas=0":                                    "replicas",
		"provider.resources.limits.memory=512M":                  "memory",
		"connection.nats.urls=nats://nats:4222":                  "urls",
		"connection.nats.secretRef.namespace=a":                  "name",
		"connection.s3.sts.roleARN=koldun":                       "roleARN",
		"connection.nats.operator.servers=100":                   "servers",
		"monitoring.rules=true":                                  "rules",
		"platform.claims[0].image=a":                             "image",
		"crossplane.install=perhaps":                             "install",
		"platform.singleTeam=true,platform.claims[0].images={a}": "remove platform.claims",
		"nats.install=true,connection.nats.url=nats://a:4222":    "remove one of them",
		"s3.install=true,connection.s3.endpoint=http://a:9000":   "remove one of them",
		"nats.replicas=2":                                        "replicas",
		"nats.size=20":                                           "size",
		"s3.size=1Ti":                                            "size",
		"s3.replicas=2":                                          "replicas",
		"nats.image.digest=sha1":                                 "digest",
	} {
		t.Run(set, func(t *testing.T) {
			if _, err := template("--set", set); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want it to name %q", err, want)
			}
		})
	}
}

// TestManifestsAreTheChart tests that package/install.yaml and its parts are what the chart
// renders.
func TestManifestsAreTheChart(t *testing.T) {
	template := render(t, "/nowhere")
	for name, args := range map[string][]string{
		"install.yaml":     nil,
		"rbac.yaml":        {"--set", "packages.install=false"},
		"rbac-claims.yaml": {"--set", "flavour=claims", "--show-only", "templates/rights-claims.yaml"},
		"single-team.yaml": {"--set", "platform.singleTeam=true", "--show-only", "templates/platform.yaml"},
	} {
		want, err := template(append(args, "--set", "crossplane.install=false,keep=false")...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decode(t, want), decode(t, file(t, "../../package/"+name))); diff != "" {
			t.Errorf("package/%s is not what the chart renders: run make generate (-chart +file):\n%s", name, diff)
		}
	}
}

func decode(t *testing.T, manifest string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := cluster.Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestChartIsAccepted tests that a real API server accepts what the chart renders, without
// unknown fields, and what the values change.
func TestChartIsAccepted(t *testing.T) {
	c := shared.Cluster(t)
	template := render(t, c.Kubeconfig())
	err := c.Apply(t.Context(), append(cluster.Definitions(cluster.ManagedGroup),
		anyKind("monitoring.coreos.com", "v1", "PodMonitor"), anyKind("monitoring.coreos.com", "v1", "PrometheusRule"))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nats", "s3"} { // they stay: other tests use them too
		if err := c.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	const bare = "crossplane.install=false"
	digest := "sha256:" + strings.Repeat("ab", 32)
	for name, tc := range map[string]struct {
		values string
		want   []string // regular expressions on the objects as JSON
		not    []string
	}{
		"Default": {"", []string{`"kind":"Deployment".*"name":"crossplane"`, `xpkg.crossplane.io/crossplane/crossplane:v2.4.0`, `ghcr.io/gorizond/koldun-function:v0.0.0`, `"helm.sh/resource-policy":"keep"`},
			[]string{"PodMonitor", "ClusterProviderConfig", "EnvironmentConfig", "koldun-configuration-claims"}},
		"WithCrossplane":     {bare, []string{`"skipDependencyResolution":true`}, []string{`"kind":"Deployment"`, "ImageConfig", "crossplane-account"}},
		"Claims":             {bare + ",flavour=claims", []string{`koldun-configuration-claims:v0.0.0`, `koldun-claims:aggregate-to-crossplane`}, nil},
		"ElsewhereInstalled": {bare + ",crossplane.namespace=upbound-system", []string{`"name":"koldun-provider","namespace":"upbound-system"`, `--crossplane-account=upbound-system/crossplane`}, nil},
		"RightsOnly":         {bare + ",packages.install=false", []string{`"kind":"ImageConfig"`}, []string{`"kind":"Provider"`, `"kind":"Function"`}},
		"Registry": {bare + ",packages.registry=registry.example.org:5000/mirror,packages.tag=v1.2.3,packages.pullSecrets={registry},packages.provider.digest=" + digest + ",image.digest=" + digest,
			[]string{`registry.example.org:5000/mirror/koldun-provider:v1.2.3@` + digest, `"packagePullSecrets":\[{"name":"registry"}\]`, `"value":"registry.example.org:5000/mirror/koldun:v1.2.3@` + digest}, []string{"ghcr.io"}},
		"Resources": {bare + ",provider.resources.limits.memory=2Gi,provider.replicas=2,function.resources.requests.cpu=100m,function.replicas=3", []string{`"GOMEMLIMIT","value":"1843MiB"`, `"replicas":3`, `"replicas":2`, `"cpu":"100m"`}, nil},
		"NoLimits":  {bare + ",provider.resources.limits=null", []string{"koldun-provider"}, []string{"GOMEMLIMIT"}},
		"Connection": {bare + ",connection.nats.url=nats://nats.messaging.svc:4222,connection.nats.operator.secretRef.name=operator,connection.nats.operator.servers=3,connection.s3.endpoint=http://s3.storage.svc:9000,connection.s3.secretRef.name=store,connection.s3.secretRef.namespace=storage,connection.s3.sts.lifetime=2h,connection.allowedNamespaces.names={team-a}",
			[]string{`"operator":{"secretRef":{"name":"operator","namespace":"crossplane-system"},"servers":3}`, `"secretRef":{"name":"store","namespace":"storage"}`, `"names":\["team-a"\]`}, []string{"EnvironmentConfig"}},
		"NATS": {bare + ",nats.install=true,nats.storageClass=fast,packages.registry=registry.example.org/koldun", []string{`"kind":"StatefulSet".*"replicas":3`, `"storageClassName":"fast"`,
			`"connections":500,"diskBytes":4294967296`, `"servers":3`, `"secretRef":{"name":"nats-client","namespace":"nats"}`, `"image":"registry.example.org/koldun/koldun:v0.0.0"`, `"name":"nats-bootstrap-0-0-0"`, `podAntiAffinity`}, []string{"Kustomization"}},
		"NATSOnOneNode": {bare + ",nats.install=true,nats.spread=false", []string{`"kind":"StatefulSet"`}, []string{"podAntiAffinity", "storageClassName"}},
		"SingleNATS": {bare + ",nats.install=true,nats.replicas=1,nats.size=2Gi,nats.resources.limits.memory=256Mi,nats.pullSecrets={mirror}", []string{`"kind":"StatefulSet".*"replicas":1`, `"storage":"2Gi"`,
			`max_file_store: 1843MB`, `"GOMEMLIMIT","value":"230MiB"`, `"diskBytes":1431655765`, `"servers":1`, `"kind":"Job".*"imagePullSecrets":\[{"name":"mirror"}\]`, `"kind":"StatefulSet".*"imagePullSecrets":\[{"name":"mirror"}\]`}, []string{"nats-1.nats-headless", `"memory":"2Gi"`, "1843MiB"}},
		"S3": {bare + ",s3.install=true,s3.storageClass=fast,s3.size=1Gi,connection.s3.region=home", []string{`"args":\["s3","serve".*"image":"ghcr.io/gorizond/koldun:v0.0.0"`, `"kind":"StatefulSet".*"name":"s3"`, `"storageClassName":"fast"`, `"storage":"1Gi"`, `"name":"s3-bootstrap-0-0-0"`,
			`"endpoint":"https://s3.s3.svc:7070","region":"home","secretRef":{"name":"s3-credentials","namespace":"s3"},"sts":{}`}, []string{`"namespace":"nats"`, "allowedNamespaces", `"kind":"Secret"`, "Kustomization"}},
		"NATSAndS3": {bare + ",nats.install=true,s3.install=true", []string{`"name":"nats"`, `"endpoint":"https://s3.s3.svc:7070"`, `"url":"nats://nats.nats.svc:4222"`,
			`"allowedNamespaces":{"names":\["default"\],"selector":{"matchLabels":{"koldun.gorizond.io/connection":"allowed"}}}`}, []string{`"kind":"Secret"`, "sharedLogin"}},
		"NATSAndS3Shared": {bare + ",nats.install=true,s3.install=true,connection.sharedLogin=true", []string{
			`"allowedNamespaces":{"names":\["default"\],"selector":{"matchLabels":{"koldun.gorizond.io/connection":"allowed"}}}`, `"sharedLogin":true`}, nil},
		"NATSAndS3ForOthers": {bare + ",nats.install=true,s3.install=true,connection.allowedNamespaces.names={team-a}", []string{`"allowedNamespaces":{"names":\["team-a"\]}`}, nil},
		"OneRegistry": {"nats.install=true,s3.install=true,packages.registry=10.0.0.1:5000,packages.tag=v1,nats.image.repository=10.0.0.1:5000/nats,s3.image.repository=10.0.0.1:5000/versitygw,crossplane.image.repository=10.0.0.1:5000/crossplane,crossplane.image.tag=v3",
			[]string{`"image":"10.0.0.1:5000/nats:\d+\.\d+\.\d+"`, `"args":\["s3","serve".*"image":"10.0.0.1:5000/koldun:v1"`, `"image":"10.0.0.1:5000/crossplane:v3"`, `"image":"10.0.0.1:5000/koldun:v1"`, `"value":"10.0.0.1:5000/koldun:v1"`, `"package":"10.0.0.1:5000/koldun-provider:v1"`},
			[]string{"ghcr.io", "docker.io", "xpkg.", "versitygw"}}, // its image of earlier versions
		"SingleTeam": {bare + ",platform.singleTeam=true,connection.nats.url=nats://nats:4222", []string{`"everything":true`, `"allowedNamespaces":{"names":\["\*"\]}`, `"sharedLogin":true`}, nil},
		"Rules":      {bare + ",platform.claims[0].images={ghcr.io/acme},platform.claims[0].namespaces={research}", []string{`"claims":\[{"images":\["ghcr.io/acme"\],"namespaces":\["research"\]}\]`}, nil},
		"Monitored": {bare + ",monitoring.podMonitor=always,monitoring.rules=always,monitoring.dashboards=always,monitoring.labels.release=prometheus",
			[]string{`"kind":"PodMonitor"`, `{{ \$labels.namespace }}`, `"release":"prometheus"`, `"grafana_dashboard":"1"`, `koldun-dashboard-queue`}, nil},
		"TaggedImage": {bare + ",image.tag=v9.9.9,image.repository=registry.example.org/koldun", []string{`"value":"registry.example.org/koldun:v9.9.9"`}, nil},
		"NotKept":     {bare + ",keep=false", nil, []string{"resource-policy"}},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := template("--set", tc.values)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, o := range decode(t, rendered) {
				if o.GetName() == "crossplane" && o.GetKind() == "Service" {
					continue // that of the test cluster has another type
				}
				raw, err := json.Marshal(o.Object)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(raw))
			}
			if err := c.Accept(t.Context(), cluster.SystemNamespace, all...); err != nil {
				t.Error(err)
			}
			objects := strings.Join(all, "\n")
			for _, want := range tc.want {
				if !regexp.MustCompile(want).MatchString(objects) {
					t.Errorf("no object has %s", want)
				}
			}
			if i := slices.IndexFunc(tc.not, func(not string) bool { return strings.Contains(objects, not) }); i >= 0 {
				t.Errorf("an object has %s", tc.not[i])
			}
		})
	}
}
