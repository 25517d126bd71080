package linklocal_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/network/linklocal"
)

func TestRefuse(t *testing.T) {
	for address, want := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1%eth0]:80": true, "[::ffff:169.254.169.254]:80": true, "0.0.0.0:80": true, "[::]:80": true, "224.0.0.1:80": true,
		"[fd00:ec2::254]:80": true, "[fd00:c1::a9fe:a9fe]:80": true, "[fd00:42::42]:80": true, "[fd20:ce::254]:80": true,
		"100.100.100.200:80": true, "192.0.0.192:80": true, "168.63.129.16:32526": true, "[::ffff:168.63.129.16]:80": true,
		"[64:ff9b::a9fe:a9fe]:80": true, "[2002:a9fe:a9fe::1]:80": true, "[64:ff9b::a43f:8110]:80": false,
		"127.0.0.1:80": false, "10.0.0.1:80": false, "[fd00:ec2::255]:80": false, "100.100.100.201:80": false, "168.63.129.17:80": false, "203.0.113.7:443": false, "[2001:db8::1]:443": false,
	} {
		err := linklocal.Refuse("tcp", address, nil)
		if got := errors.As(err, new(linklocal.Error)); got != want || (err != nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := linklocal.Refuse("tcp", "no address", nil); err == nil {
		t.Error("an address that cannot be read is not refused")
	}
}

// TestDialerAsks checks that a dialer connects to no such address, whatever its name.
func TestDialerAsks(t *testing.T) {
	d := net.Dialer{Timeout: time.Minute, Control: linklocal.Refuse}
	c, err := d.DialContext(t.Context(), "tcp", "169.254.169.254:80")
	if err == nil {
		_ = c.Close()
	}
	if !errors.As(err, new(linklocal.Error)) {
		t.Errorf("got %v", err)
	}
}
