package natsauth

// Keys of the Secret that spec.nats.operator of a ProviderConfig names.
const (
	SecretSigning  = "operator.nk"  // seed of a signing key of the operator
	SecretSystem   = "system.creds" // credentials file of a user of the system account
	SecretAccounts = "accounts.key" // Keyring
)

// Secret returns the content of the Secret by which a provider makes accounts, whose keys
// follow from a Keyring. Its values are secrets. Errors: those of Manager.
func (a Authority) Secret(k Keyring) (map[string][]byte, error) {
	manager, err := a.Manager()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{SecretSigning: []byte(a.Signing), SecretSystem: []byte(manager.Credentials), SecretAccounts: []byte(k)}, nil
}
