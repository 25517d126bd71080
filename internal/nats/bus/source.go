package bus

import "sync"

// A source supplies a connection with credentials: those of a text, or those that a
// file holds at each reconnect.
type source struct {
	file string // empty: the credentials never change

	mu   sync.Mutex
	used login
}

// source returns the source of Creds or CredsFile, or nil if there is none. Errors:
// NotFound (no such file), Invalid.
func (c Config) source() (*source, error) {
	if c.CredsFile != "" {
		s := &source{file: c.CredsFile}
		_, err := s.reset()
		return s, err
	}
	if c.Creds == "" {
		return nil, nil
	}
	l, err := parseLogin(c.Creds)
	return &source{used: l}, err
}

// reset returns the credentials for a client that has no subscriptions yet. It may be
// another user than before.
func (s *source) reset() (login, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == "" {
		return s.used, nil
	}
	l, err := readLogin(s.file)
	if err == nil {
		s.used = l
	}
	return l, err
}

// token returns the JWT for a new connection. A file that cannot be read, or has
// another user, changes nothing: follow decides about it.
func (s *source) token() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != "" {
		if l, err := readLogin(s.file); err == nil && l.user == s.used.user {
			s.used = l
		}
	}
	return s.used.token, nil
}

// sign answers the server's challenge to the client that holds the JWT.
func (s *source) sign(nonce []byte) ([]byte, error) { return s.current().sign(nonce) }

func (s *source) current() login {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}
