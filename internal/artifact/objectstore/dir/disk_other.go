//go:build unix && !linux

package dir

import "os"

func reserve(f *os.File, size int64) error { return f.Truncate(size) }

func syncData(f *os.File) error { return f.Sync() }
