package natsauth

import (
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// A Seed is the private key of a signer, as text. It is a secret.
type Seed string

// A signer is a private key with what others know of it.
type signer struct {
	pair   nkeys.KeyPair
	public string
	seed   Seed
}

// newKey makes a key, such as nkeys.CreateUser.
func newKey(create func() (nkeys.KeyPair, error)) (signer, error) {
	pair, err := create()
	if err != nil {
		return signer{}, fault.Errorf(fault.Internal, "cannot make a key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return signer{}, fault.Errorf(fault.Internal, "cannot make a key: %w", err)
	}
	return signerOf(Seed(seed))
}

// signerOf returns the signer of a seed. Errors: Invalid.
func signerOf(seed Seed) (signer, error) {
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return signer{}, fault.Errorf(fault.Invalid, "the text is no seed of a key")
	}
	public, err := pair.PublicKey()
	if err != nil {
		return signer{}, fault.Errorf(fault.Invalid, "the text is no seed of a key")
	}
	return signer{pair: pair, public: public, seed: seed}, nil
}

// operatorSigner returns the signer of an operator's seed. Errors: Invalid.
func operatorSigner(seed Seed) (signer, error) {
	s, err := signerOf(seed)
	if err == nil && !nkeys.IsValidPublicOperatorKey(s.public) {
		err = fault.Errorf(fault.Invalid, "the key is no operator's: its seed begins with SO")
	}
	return s, err
}
