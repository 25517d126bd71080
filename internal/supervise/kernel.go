package supervise

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// procFS is where Linux tells about processes. Elsewhere nothing is there, and
// so nothing is known.
const procFS = "/proc"

// processes lists what can be read of all processes.
func processes() []stat {
	paths, _ := filepath.Glob(procFS + "/[0-9]*/stat")
	out := make([]stat, 0, len(paths))
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			continue // it has ended meanwhile
		}
		if s, err := parseStat(string(text)); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// look surveys the sockets of the group of processes that pid leads.
func look(pid int) view {
	own, known := map[uint64]bool{}, false
	for _, p := range processes() {
		if p.group != pid {
			continue
		}
		dir := filepath.Join(procFS, strconv.Itoa(p.pid), "fd")
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // ended, or with rights that we have not
		}
		known = true
		for _, e := range entries {
			link, err := os.Readlink(filepath.Join(dir, e.Name()))
			if err != nil {
				continue
			}
			if inode, ok := parseInode(link); ok {
				own[inode] = true
			}
		}
	}
	if !known {
		return view{}
	}
	v, err := sockets(pid)
	if err != nil {
		return view{}
	}
	return survey(v, own)
}

// sockets of the network that pid is in. IPv6 may be absent.
func sockets(pid int) ([]socket, error) {
	dir := filepath.Join(procFS, strconv.Itoa(pid), "net")
	text, err := os.ReadFile(filepath.Join(dir, "tcp"))
	if err != nil {
		return nil, err
	}
	all := parseSockets(text)
	if text, err := os.ReadFile(filepath.Join(dir, "tcp6")); err == nil {
		all = append(all, parseSockets(text)...)
	}
	return all, nil
}

// reap buries the children that have ended, except that of ours, which is
// waited for elsewhere. Process 1 inherits every orphan of its container. The
// caller makes sure that no child is being started.
func reap(except int) (buried int) {
	us := os.Getpid()
	for _, p := range processes() {
		if !p.zombie || p.parent != us || p.pid == except {
			continue
		}
		if n, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil); err == nil && n == p.pid {
			buried++
		}
	}
	return buried
}
