package token

import "github.com/gorizond/koldun/internal/fault"

// refuseGuessed refuses the SHA-256 of a word that examples and guides use, with or without the
// line end that a shell adds. A hash does not tell how long its token is: gateways take none that
// is shorter than registry.MinTokenBytes, whatever its hash, and this says so where it is made.
func refuseGuessed(hash, field string) error {
	for _, word := range []string{
		"", "123456", "12345678", "1234567890", "admin", "alice", "bob", "changeme", "change-me", "demo", "dummy", "example", "foo", "hello", "key",
		"koldun", "letmein", "none", "null", "ollama", "openai", "pass", "password", "qwerty", "root", "secret", "sk-test", "sk-1234", "test", "test123",
		"testing", "token", "user", "my-token", "mytoken", "your-token", "your-api-key", "sk-your-api-key", "change-me-please", "replace-me-please",
		"0123456789abcdef", "1234567890123456", "aaaaaaaaaaaaaaaa",
	} {
		if hash == Digest(word) || hash == Digest(word+"\n") {
			return fault.Errorf(fault.Invalid, "%s: the hash of a word that anyone guesses: hash a random token of 16 bytes or more, as openssl rand -hex 24 makes", field)
		}
	}
	return nil
}
