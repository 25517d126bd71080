//go:build !linux

package s3

func hasXattrs(string) bool { return false }

func hasTmpFiles(string) bool { return false }
