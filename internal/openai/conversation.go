package openai

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// conversationSize is the length in hex digits of a conversation's name.
const conversationSize = 16

// Conversation returns the name of a request's conversation. It is a hash of the
// tenant and of the explicit name that the client gives, or else of the messages
// up to the first of the user, which all later turns repeat. With a key, only
// its holder can compute the name.
func Conversation(key []byte, tenant, explicit string, messages []Message) string {
	parts := []string{tenant, "explicit", explicit}
	if explicit == "" {
		parts[1], parts = "prefix", parts[:2]
		for _, m := range messages {
			parts = append(parts, string(m.Role), m.Content)
			if m.Role == User {
				break
			}
		}
	}
	if len(key) == 0 {
		return names.Hash(conversationSize, parts...)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(mac.Sum(nil))[:conversationSize]
}

// ParseHashKey reads the key of the HMAC that names conversations: plain text, or
// "base64:" and its base64. "" is no key. The error never holds the key.
func ParseHashKey(s string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(s, "base64:")
	if !ok {
		return []byte(s), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot read the hash secret: what follows base64: is not base64")
	}
	return key, nil
}
