package gateway

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// crockford is the alphabet of https://www.crockford.com/base32.html.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newID returns 26 letters and digits that are unique and sort by time: 48 bits
// of milliseconds and 80 random bits, as in a ULID.
func newID(now time.Time) string {
	var b [16]byte
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	_, _ = rand.Read(b[6:]) // never fails since Go 1.24
	return crockford.EncodeToString(b[:])
}

// newSecretID returns 26 letters and digits that nobody can guess: 128 random bits.
func newSecretID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return crockford.EncodeToString(b[:])
}

// requestID returns the id of a request in the queue and in the client's
// headers.
func requestID(id string) string { return "req_" + id }
