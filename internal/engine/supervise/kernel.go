package supervise

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// procFS is the file system of processes on Linux. On other systems it is absent,
// and the supervisor knows nothing of sockets.
const procFS = "/proc"

// processes returns all readable processes.
func processes() []stat {
	paths, _ := filepath.Glob(procFS + "/[0-9]*/stat")
	out := make([]stat, 0, len(paths))
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			continue // it has ended
		}
		if s, err := parseStat(string(text)); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// look surveys the sockets of the process group of pid.
func look(pid int) view {
	own, known := map[uint64]bool{}, false
	for _, p := range processes() {
		if p.group != pid {
			continue
		}
		dir := filepath.Join(procFS, strconv.Itoa(p.pid), "fd")
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended, or is not accessible
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

// sockets returns the sockets of the network namespace of pid. IPv6 may be absent.
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

// reap reaps ended orphans, which process 1 of a container inherits. It does not
// reap the supervised child. The caller must ensure that no child is being
// started.
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
