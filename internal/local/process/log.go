package process

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// maxLog is the size at which a log is rotated; one old log is kept.
const maxLog = 8 << 20 // 8 MiB

// A Log is a file of limited size at PATH, with its predecessor at PATH.1. A write
// never fails, because a missing log must not stop a process. It is safe for
// concurrent use.
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File // nil if it cannot be written
	size int64
}

// OpenLog creates a log. It renames an existing one to PATH.1.
func OpenLog(path string) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make log folder: %w", err)
	}
	l := &Log{path: path}
	if err := l.begin(); err != nil {
		return nil, fmt.Errorf("cannot make log: %w", err)
	}
	return l, nil
}

// Write appends p as far as possible.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > maxLog && l.size > 0 {
		_ = l.begin()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

// Close closes the log.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

func (l *Log) begin() error {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
	_ = os.Rename(l.path, l.path+".1")
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	l.file, l.size = f, 0
	return nil
}
