package e2e_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
)

func ingressWith(backend string) mistake {
	return mistake{kind: "Ingress", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {backend: {" + backend + "}}"}
}

func modelWith(spec string) mistake {
	return mistake{kind: "Model", manifest: "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: NAME}\nspec: {" + spec + "}"}
}

// alone gives a mistake a namespace of its own: others take the NATS servers that its
// Ingress names for theirs.
func (m mistake) alone() mistake {
	return m.in("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: alone}")
}

const tinyModel = "sourceUrl: https://huggingface.co/gorizond/koldun-tiny"

// referenceMistakes are wrong references and settings, which no server has to refuse.
func referenceMistakes() map[string]mistake {
	return map[string]mistake{
		"model": dllamaWith("modelRef: {name: absent}").
			is("ModelNotFound", `spec.modelRef: Model "absent" does not exist`),
		"power": dllamaWith("model: {"+tinyModel+"}, replicaPower: 3").
			is("TopologyInvalid", "spec.replicaPower: cannot spread the model onto 8 nodes", "1, 2, 4 nodes"),
		"memory-limit": dllamaWith("model: {"+tinyModel+"}, replicaPower: 1, rootResources: {limits: {memory: 64Ki}}").
			is("TopologyInvalid", "spec.rootResources", "the root needs"),
		"args": ingressWith("extraArgs: [--nonsense]").
			is("InputRefused", "unknown flag --nonsense", "spec.backend.extraArgs"),
		"configuration": ingressWith("nats: {providerConfigRef: {kind: ProviderConfig, name: absent}}").alone().
			is("ConnectionPending", `ProviderConfig "absent" does not exist`, "create it"),
		"nats-secret": ingressWith("nats: {url: 'nats://127.0.0.1:1', credentialsSecret: {name: absent}}").alone().
			is("ConnectionPending", `Secret "absent" does not exist in namespace`, "create it"),
		"volume": dllamaWith("model: {preConverted: true, preConvertedPVCName: absent}").
			is("VolumeUnavailable", `"absent"`, "create"),
	}
}

// ofServers returns those that a server refuses. The hub wants a token.
func (ms *mistakes) ofServers(hub string) map[string]mistake {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: wrong}\nstringData: {user: nobody, password: nothing, accessKey: nobody, secretKey: nothing, token: nothing}\n---\n"
	s3 := ms.processes.services.s3.Config()
	// A hub of one's own needs an object store of one's own.
	config := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: s3}\nstringData: {accessKey: %s, secretKey: %s}\n---\n"+
		"apiVersion: koldun.m.gorizond.io/v1alpha1\nkind: ProviderConfig\nmetadata: {name: other}\nspec: {s3: {endpoint: '%s', secretRef: {name: s3}}, hub: {endpoint: '%s'",
		s3.AccessKey, s3.SecretKey, s3.Endpoint, hub)
	const other = ", objectStorage: {providerConfigRef: {kind: ProviderConfig, name: other}}"
	return map[string]mistake{
		"nats-url": ingressWith("nats: {url: 'nats://127.0.0.1:1'}").alone().
			is("ConnectionPending", "cannot connect to NATS", "127.0.0.1:1"),
		"nats-credentials": ingressWith("nats: {url: '"+ms.processes.services.nats.URL()+"', credentialsSecret: {name: wrong}}").in(secret).
			is("ConnectionPending", "Authorization Violation"),
		"repository": modelWith("sourceUrl: https://huggingface.co/org/absent").
			is("RevisionUnavailable", "org/absent"),
		"token": modelWith("sourceUrl: https://huggingface.co/org/odd, download: {huggingFaceTokenSecretRef: {name: wrong}}"+other).in(secret+config+"}}").
			is("RevisionUnavailable", "org/odd", "it is private", "a token is given"),
		"architecture": modelWith("sourceUrl: https://huggingface.co/org/odd"+other).in(secret+
			"apiVersion: v1\nkind: Secret\nmetadata: {name: right}\nstringData: {token: right}\n---\n"+config+", secretRef: {name: right}}}").
			is("ModelUnsupported", `model_type is "bert"`, "want llama"),
		"s3-credentials": modelWith(tinyModel+", objectStorage: {endpoint: '"+ms.processes.services.s3.Config().Endpoint+"', secretRef: {name: wrong}}").in(secret).
			is("ConnectionPending", "bucket"),
	}
}

// brokenHub serves a model of an architecture that cannot be converted, to those with
// the right token, and returns its address.
func (ms *mistakes) brokenHub(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "odd", "config.json"), []byte(`{"model_type":"bert"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	hub, err := hubserver.New(hubserver.Config{Dir: dir, Token: "right"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(hub)
	t.Cleanup(func() {
		server.Close()
		_ = hub.Close()
	})
	return server.URL
}
