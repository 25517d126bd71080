package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
)

// greedy is an image whose program stores more than its limit.
const greedy = "example.org/greedy:1"

// fills writes 2 MiB to each folder of the container.
const fills = "for d in $(env | sed -n 's/^KOLDUN_DIR_[A-Z_]*=//p'); do head -c 2097152 /dev/zero >$d/fill; done; exec sleep 3600"

// ofRoom returns those that ask for more than there is: on a node, in a namespace, on a disk.
func (ms *mistakes) ofRoom(t *testing.T) map[string]mistake {
	t.Helper()
	s3 := ms.processes.services.s3.Config()
	secret := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: s3}\nstringData: {accessKey: %s, secretKey: %s}\n---\n", s3.AccessKey, s3.SecretKey)
	const config = "apiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ProviderConfig\nmetadata: {name: other}\nspec: {hub: {endpoint: '%s'}, s3: {endpoint: '%s', secretRef: {name: s3}}}"
	const other = ", objectStorage: {bucketForSource: room, bucketForConvert: room, providerConfigRef: {kind: ProviderConfig, name: other}}"
	return map[string]mistake{
		"room": dllamaWith("model: {"+tinyModel+other+"}, rootResources: {requests: {memory: 100Ti}}").in(secret+fmt.Sprintf(config, ms.endlessHub(t), s3.Endpoint)).
			is("Unschedulable", "no node has 100.0 TiB of memory (the most is 1.0 TiB of memory) allocatable", "add a node", "spec.rootResources"),
		"full": modelWith(tinyModel+", objectStorage: {endpoint: '"+fullStore(t, s3.Endpoint)+"', secretRef: {name: s3}, bucketForSource: full, bucketForConvert: full}").in(secret).
			is("StorageFull", "fetch", "enlarge the volume or the quota of the bucket"),
		"quota": served("", ", rootImage: "+hollow).in("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none}\nspec: {hard: {pods: '0'}}").
			is("QuotaExceeded", "exceeded quota: none", "raise the quota"),
		"evicted": served(", command: [serve]", ", rootImage: "+greedy+", rootResources: {limits: {ephemeral-storage: 1Mi}}").
			is("PodEvicted", "exceeds the total limit of containers 1Mi", "raise the limit of ephemeral-storage in spec.rootResources"),
	}
}

// endlessHub serves the models of the examples, and never ends the download of one: what
// is known of it is known before.
func (ms *mistakes) endlessHub(t *testing.T) string {
	t.Helper()
	hub, err := hubserver.New(hubserver.Config{Dir: repository + "/examples/models"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, ".safetensors") && r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
		hub.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = hub.Close()
	})
	return server.URL
}

// fullStore is an object store that has no room for another object, and answers as MinIO
// does when its disks are full.
func fullStore(t *testing.T, endpoint string) string {
	t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	store := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if object := strings.Contains(strings.Trim(r.URL.Path, "/"), "/"); object && r.Method == http.MethodPut {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusInsufficientStorage)
			_, _ = fmt.Fprint(w, "<Error><Code>XMinioStorageFull</Code><Message>Storage backend has reached its minimum free drive threshold. Please delete a few objects to proceed.</Message></Error>")
			return
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// registerNode creates the object of the test's node, with what it has for pods.
func (ob *objects) registerNode(t *testing.T, name string) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := ob.Client().Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	if err := ob.Client().Status().Update(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// countQuotas has the quotas of a namespace count, as their controller does.
func (ms *mistakes) countQuotas(ctx context.Context, ns string) error {
	var quotas corev1.ResourceQuotaList
	if err := ms.Client().List(ctx, &quotas, client.InNamespace(ns)); err != nil {
		return err
	}
	for _, q := range quotas.Items {
		q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{}}
		for name := range q.Spec.Hard {
			q.Status.Used[name] = resource.Quantity{}
		}
		if err := ms.Client().Status().Update(ctx, &q); err != nil {
			return err
		}
	}
	return nil
}
