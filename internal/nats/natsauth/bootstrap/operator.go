package bootstrap

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// OperatorConf is the key of the Secret Server with the part of the servers'
// configuration that nats.conf includes.
const OperatorConf = "operator.conf"

// keyringBytes is the length of the secret that the keys of accounts follow from.
const keyringBytes = 48

// Keys of the Secret Keys.
const (
	keyMain        = "main.nk"
	keySigning     = "signing.nk"
	keySystemUsers = "system.nk"
	keyOperator    = "operator.jwt"
	keySystem      = "system.jwt"
	keySystemID    = "system.id"
	keyAccounts    = "accounts.key"
)

func (m *maker) operator(ctx context.Context) error {
	parts := []string{m.plan.Secret(Operator), m.plan.Secret(Server)}
	missing, err := m.Missing(ctx, parts...)
	if err != nil || len(missing) == 0 {
		return err
	}
	data, err := m.Origin(ctx, m.plan.Secret(Keys), parts, missing, newKeys)
	if err != nil {
		return err
	}
	authority, keyring, err := readKeys(data)
	if err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot use Secret %q: %w", m.plan.Secret(Keys), err)
	}
	operator, err := authority.Secret(natsauth.Keyring(keyring))
	if err != nil {
		return fault.Errorf(fault.Corrupt, "cannot use Secret %q: %w", m.plan.Secret(Keys), err)
	}
	content := map[string]map[string][]byte{
		parts[0]: operator,
		parts[1]: {OperatorConf: operatorConf(authority)},
	}
	for _, name := range missing {
		if err := m.Create(ctx, name, content[name]); err != nil {
			return err
		}
	}
	return nil
}

// newKeys makes an operator, and the secret that the keys of accounts follow from.
func newKeys() (map[string][]byte, error) {
	a, err := natsauth.NewAuthority("koldun")
	if err != nil {
		return nil, err
	}
	random := make([]byte, keyringBytes)
	if _, err := rand.Read(random); err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot make a key: %w", err)
	}
	return map[string][]byte{
		keyMain: []byte(a.Main), keySigning: []byte(a.Signing), keySystemUsers: []byte(a.SystemUsers),
		keyOperator: []byte(a.Operator), keySystem: []byte(a.System), keySystemID: []byte(a.SystemID),
		keyAccounts: []byte(base64.StdEncoding.EncodeToString(random)),
	}, nil
}

// readKeys reads what newKeys has made. Errors: Corrupt, without secrets.
func readKeys(data map[string][]byte) (natsauth.Authority, []byte, error) {
	for _, key := range []string{keySigning, keySystemUsers, keyOperator, keySystem, keySystemID, keyAccounts} {
		if len(data[key]) == 0 {
			return natsauth.Authority{}, nil, fault.Errorf(fault.Corrupt, "it has no key %s", key)
		}
	}
	return natsauth.Authority{
		Operator: string(data[keyOperator]), System: string(data[keySystem]), SystemID: string(data[keySystemID]),
		Signing: natsauth.Seed(data[keySigning]), SystemUsers: natsauth.Seed(data[keySystemUsers]), Main: natsauth.Seed(data[keyMain]),
	}, data[keyAccounts], nil
}

// operatorConf returns what makes servers trust the operator. The resolver has no other
// way to get the system account.
func operatorConf(a natsauth.Authority) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\nresolver_preload: {\n  %s: %s\n}\n", a.Operator, a.SystemID, a.SystemID, a.System)
	return b.Bytes()
}
