package main

import (
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/external/pool"
	"github.com/gorizond/koldun/internal/external/token"
	"github.com/gorizond/koldun/internal/external/tokenset"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
)

// labelToken marks the Secrets that hold API tokens.
const labelToken = "koldun.gorizond.io/token"

// demanded adds what was listed before.
func demanded(obj local.Object, s *demand.Spec) error {
	var known demand.Status
	err := obj.Decode(&known, "status", "atProvider")
	s.Known = known.Sessions
	return err
}

// pooled adds what was shown before, and tells the pools of one run from those
// of others: members of an earlier one are gone.
func pooled(run string) func(local.Object, *pool.Spec) error {
	return func(obj local.Object, s *pool.Spec) error {
		s.ID = run + " " + obj.Key().String()
		return obj.Decode(&s.Known, "status", "atProvider")
	}
}

// tokens adds the Secrets that are labelled.
func (c connections) tokens(obj local.Object, s *tokenset.Spec) error {
	s.Owner = obj.Key().String()
	for _, secret := range c.secrets(obj.Key().Namespace) {
		if token.Truthy(secret.Labels[labelToken]) {
			s.Secrets = append(s.Secrets, token.Secret{Name: secret.Name, Data: secret.Data, Annotations: secret.Annotations})
		}
	}
	return nil
}

// token adds the Secret that is referred to, and what was handed out.
func (c connections) token(obj local.Object, s *token.Spec) error {
	var refs struct {
		SecretRef struct {
			Name string `json:"name"`
		} `json:"secretRef"`
	}
	var keeps struct {
		Name string `json:"name"`
	}
	if err := obj.Decode(&refs, "spec", "forProvider"); err != nil {
		return err
	}
	if err := obj.Decode(&keeps, "spec", "writeConnectionSecretToRef"); err != nil {
		return err
	}
	s.Owner = obj.Key().String()
	if name := refs.SecretRef.Name; name != "" {
		data, ok := c.secret(obj.Key().Namespace, name)
		if !ok {
			return fault.Errorf(fault.NotFound, "Secret %q does not exist", name)
		}
		s.Secret = &token.Secret{Name: name, Data: data}
		return nil
	}
	data, _ := c.secret(obj.Key().Namespace, keeps.Name)
	s.Stored = string(data[token.ConnectionKey])
	return nil
}
