package crd

import (
	"fmt"
	"testing"
)

func TestSecretValues(t *testing.T) {
	ingress, err := Load(Composite, "ingresses")
	if err != nil {
		t.Fatal(err)
	}
	backend := func(name string, v any) map[string]any {
		return map[string]any{"backend": map[string]any{name: v}}
	}
	nats := func(url string) map[string]any { return backend("nats", map[string]any{"url": url}) }
	const atURL = "spec.backend.nats.url credentials_secret"
	for name, c := range map[string]struct {
		spec any
		want string // path, and the attribute to use instead; "" if there is no secret
		kept string // what Redact leaves
	}{
		"Nothing":         {map[string]any{}, "", "map[]"},
		"HashSecret":      {backend("hashSecret", "word"), "spec.backend.hashSecret hash_secret_ref", "map[backend:map[]]"},
		"HashSecretRef":   {backend("hashSecretRef", map[string]any{"name": "s"}), "", "map[backend:map[hashSecretRef:map[name:s]]]"},
		"PlainURL":        {nats("nats://host:4222,nats://other"), "", "map[backend:map[nats:map[url:nats://host:4222,nats://other]]]"},
		"PasswordInURL":   {nats("nats://user:word@host"), atURL, "map[backend:map[nats:map[url:nats://xxxxx@host]]]"},
		"TokenInURL":      {nats("nats://word@host"), atURL, "map[backend:map[nats:map[url:nats://xxxxx@host]]]"},
		"PasswordInLater": {nats("nats://host, tls://user:wo@rd@other"), atURL, "map[backend:map[nats:map[url:nats://host, tls://xxxxx@other]]]"},
		"InAList":         {backend("extraArgs", []any{"--a", "--nats=nats://user:word@host"}), "spec.backend.extraArgs[1] ", "map[backend:map[extraArgs:[--a --nats=nats://xxxxx@host]]]"},
		"Commit":          {nats("hf://model@commit"), "", "map[backend:map[nats:map[url:hf://model@commit]]]"},
		"UnknownField":    {map[string]any{"other": "nats://user:word@host"}, "", "map[other:nats://user:word@host]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range ingress.Spec.SecretValues(c.spec, "spec") {
				got += s.Path + " "
				if s.Instead != nil {
					got += s.Instead.Attribute
				}
			}
			if got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			if kept := fmt.Sprint(ingress.Spec.Redact(c.spec)); kept != c.kept {
				t.Errorf("Redact leaves %s, want %s", kept, c.kept)
			}
		})
	}
}
