package supervise

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// States of a TCP socket in /proc/net/tcp, as in the kernel's tcp_states.h.
const (
	tcpEstablished = 0x01
	tcpCloseWait   = 0x08
	tcpListen      = 0x0A
)

// A socket is a line of /proc/net/tcp or tcp6 (proc(5)).
type socket struct {
	port  uint16 // local
	state uint8
	inode uint64
}

// parseSockets reads the text of /proc/PID/net/tcp or tcp6. A line that is not
// as proc(5) says is passed over: newer kernels may add some.
func parseSockets(text []byte) []socket {
	var out []socket
	for line := range bytes.Lines(text) {
		if s, ok := parseSocket(string(line)); ok {
			out = append(out, s)
		}
	}
	return out
}

// parseSocket reads "0: 0100007F:2706 00000000:0000 0A ... uid timeout inode".
func parseSocket(line string) (socket, bool) {
	f := strings.Fields(line)
	if len(f) < 10 || !strings.HasSuffix(f[0], ":") {
		return socket{}, false
	}
	_, portText, ok := strings.Cut(f[1], ":")
	if !ok {
		return socket{}, false
	}
	port, err1 := strconv.ParseUint(portText, 16, 16)
	state, err2 := strconv.ParseUint(f[3], 16, 8)
	inode, err3 := strconv.ParseUint(f[9], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return socket{}, false
	}
	return socket{port: uint16(port), state: uint8(state), inode: inode}, true
}

// parseInode reads the target of a link in /proc/PID/fd: "socket:[12345]".
func parseInode(link string) (uint64, bool) {
	rest, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	number, ok := strings.CutSuffix(rest, "]")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 64)
	return n, err == nil
}

// survey tells what the sockets with these inodes are, of all that the kernel
// lists. Connections that are accepted but not taken yet have no inode; they
// count, because they are to a port that is listened on.
func survey(all []socket, own map[uint64]bool) view {
	v := view{known: true}
	ports := map[uint16]bool{}
	for _, s := range all {
		if s.state == tcpListen && own[s.inode] {
			v.listening = true
			ports[s.port] = true
		}
	}
	for _, s := range all {
		open := s.state == tcpEstablished || s.state == tcpCloseWait
		switch {
		case open && ports[s.port] && (own[s.inode] || s.inode == 0):
			v.connected++
		case s.state == tcpCloseWait && own[s.inode]:
			v.left++ // no client: those come to a port that is listened on
		}
	}
	return v
}

// A stat is what is needed of /proc/PID/stat.
type stat struct {
	pid, parent, group int
	zombie             bool
}

// parseStat reads /proc/PID/stat. The name of the program, in parentheses, may
// hold anything.
func parseStat(text string) (stat, error) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, fault.Errorf(fault.Corrupt, "cannot read process status: it names no program")
	}
	f := strings.Fields(text[end+1:])
	if len(f) < 3 {
		return stat{}, fault.Errorf(fault.Corrupt, "cannot read process status: it has %d fields", len(f))
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(text[:open]))
	parent, err2 := strconv.Atoi(f[1])
	group, err3 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil || err3 != nil {
		return stat{}, fault.Errorf(fault.Corrupt, "cannot read process status: ids are no numbers")
	}
	return stat{pid: pid, parent: parent, group: group, zombie: f[0] == "Z"}, nil
}
