package kubernetes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cgroups is where the control groups of the machine are mounted: those of version 1 in a
// folder each.
const cgroups = "/sys/fs/cgroup"

// makeCgroup makes the control group that holds those of pods, so that two nodes on a
// machine do not clean up each other's.
func makeCgroup(name string) error {
	controllers, err := hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range controllers {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot make control group: %w", err)
		}
		for _, setting := range []string{"cpuset.cpus", "cpuset.mems"} { // empty at first in version 1
			value, err := os.ReadFile(filepath.Join(dir, setting))
			if err != nil {
				continue // another controller
			}
			if err := os.WriteFile(filepath.Join(dir, name, setting), value, 0o600); err != nil {
				return fmt.Errorf("cannot set up control group: %w", err)
			}
		}
	}
	return nil
}

// removeCgroup removes a control group and those in it. Their processes have ended.
func removeCgroup(name string) {
	controllers, _ := hierarchies()
	for _, dir := range controllers {
		var groups []string
		_ = filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append([]string{path}, groups...)
			}
			return nil
		})
		for _, g := range groups {
			_ = os.Remove(g)
		}
	}
}

// hierarchies returns the root of the only hierarchy of version 2, or of each of version 1.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroups, "cgroup.controllers")); err == nil {
		return []string{cgroups}, nil
	}
	roots, err := filepath.Glob(filepath.Join(cgroups, "*", "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	for i, r := range roots {
		roots[i] = filepath.Dir(r)
	}
	return roots, nil
}
