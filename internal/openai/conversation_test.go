package openai

import (
	"strings"
	"testing"
)

func TestConversationIsNamedByAKey(t *testing.T) {
	messages := []Message{{Role: User, Content: "hi"}}
	seen := map[string]bool{}
	for _, key := range []string{"", "one", "two"} {
		for _, explicit := range []string{"", "mine"} {
			name := Conversation([]byte(key), "t", explicit, messages)
			if len(name) != conversationSize || seen[name] || name != Conversation([]byte(key), "t", explicit, messages) {
				t.Errorf("name %q", name)
			}
			seen[name] = true
		}
	}
}

func TestParseHashKey(t *testing.T) {
	for in, want := range map[string]string{"": "", "plain": "plain", "base64:aGk=": "hi"} {
		if got, err := ParseHashKey(in); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, bad := range []string{"base64:", "base64:secret!"} {
		if _, err := ParseHashKey(bad); err == nil || strings.Contains(err.Error(), "secret!") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
