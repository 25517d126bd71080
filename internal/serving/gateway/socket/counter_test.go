package socket

import "testing"

// TestSocketsAreBounded holds that a tenant opens no more connections than it may, and
// that one that leaves makes room.
func TestSocketsAreBounded(t *testing.T) {
	s := NewCounter()
	var leave func()
	for range maxPerTenant {
		var ok bool
		if leave, ok = s.Enter("a"); !ok {
			t.Fatal("a connection is refused")
		}
	}
	if _, ok := s.Enter("a"); ok {
		t.Error("one too many is let in")
	}
	if _, ok := s.Enter("b"); !ok {
		t.Error("another tenant is refused")
	}
	leave()
	if _, ok := s.Enter("a"); !ok {
		t.Error("after one left, another is refused")
	}
}
