package bus

import (
	"testing"
	"time"
)

// TestStepsOfRenewal is what follows from a look at a credentials file.
func TestStepsOfRenewal(t *testing.T) {
	t.Parallel()
	begun := time.Unix(1_000_000, 0)
	hour := login{user: "U1", token: "a", issued: begun, expires: begun.Add(time.Hour)}
	lasting := login{user: "U1", token: "a", issued: begun}
	for name, c := range map[string]struct {
		used, found login
		after       time.Duration
		want        step
	}{
		"Young":       {hour, hour, 47 * time.Minute, stay},
		"Old":         {hour, hour, 48 * time.Minute, overdue},
		"Ended":       {hour, hour, 2 * time.Hour, overdue},
		"Newer":       {hour, login{user: "U1", token: "b"}, time.Minute, renew},
		"NewerLate":   {hour, login{user: "U1", token: "b"}, 59 * time.Minute, renew},
		"OtherUser":   {hour, login{user: "U2", token: "b"}, time.Minute, another},
		"NeverEnds":   {lasting, lasting, 1000 * time.Hour, stay},
		"LastingUser": {lasting, hour, time.Minute, stay},
	} {
		if got := c.used.next(c.found, begun.Add(c.after)); got != c.want {
			t.Errorf("%s: step %d, want %d", name, got, c.want)
		}
	}
	for lives, want := range map[time.Duration]time.Duration{time.Second: often, 3 * time.Second: 150 * time.Millisecond, time.Hour: seldom} {
		if got := (login{issued: begun, expires: begun.Add(lives)}).lookEvery(); got != want {
			t.Errorf("credentials of %v are read each %v, want %v", lives, got, want)
		}
	}
	if got := lasting.lookEvery(); got != seldom {
		t.Errorf("credentials without an end are read each %v, want %v", got, seldom)
	}
}

// TestInboxOfRoles derives the subjects of answers from the credentials.
func TestInboxOfRoles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given  string
		scoped bool
		want   string
	}{
		"Role":      {"", true, "_INBOX_U1"},
		"OwnRights": {"", false, ""},
		"Given":     {"_INBOX_x", true, "_INBOX_x"},
	} {
		if got := (Config{InboxPrefix: c.given}).inbox(login{user: "U1", scoped: c.scoped}); got != c.want {
			t.Errorf("%s: the prefix is %q, want %q", name, got, c.want)
		}
	}
}
