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

// parseSockets parses /proc/PID/net/tcp or tcp6. It skips lines of unknown form,
// which newer kernels may add, and sockets in other states than those above: a busy
// machine has thousands that wait for late packets.
func parseSockets(text []byte) []socket {
	var out []socket
	for line := range bytes.Lines(text) {
		if !inUse(line) {
			continue
		}
		if s, ok := parseSocket(string(line)); ok {
			out = append(out, s)
		}
	}
	return out
}

// inUse reports whether the fourth field of a line is a state that survey counts.
func inUse(line []byte) bool {
	for range 3 {
		line = bytes.TrimLeft(line, " ")
		end := bytes.IndexByte(line, ' ')
		if end < 0 {
			return false
		}
		line = line[end:]
	}
	state := string(line[:min(len(line), 4)])
	return state == " 01 " || state == " 08 " || state == " 0A "
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

// survey summarises the listed sockets with these inodes. Connections in the
// accept queue have no inode; they count if the process listens on their port.
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
			v.left++ // not a client, whose local port is a listening one
		}
	}
	return v
}

// A stat has the used fields of /proc/PID/stat.
type stat struct {
	pid, parent, group int
	zombie             bool
}

// parseStat parses /proc/PID/stat. The name of the program, in parentheses, may
// contain any character.
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
