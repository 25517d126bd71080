package argocd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// branch is the branch of a Repository.
const branch = "main"

// A Repository is a Git repository in a folder, which Argo CD reads by its URL.
type Repository struct {
	Dir string // the work tree, to be changed before Commit
}

// NewRepository makes an empty Git repository in a folder, which it makes if needed.
func NewRepository(ctx context.Context, dir string) (*Repository, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make folder: %w", err)
	}
	r := &Repository{Dir: dir}
	_, err := r.git(ctx, "init", "--quiet", "--initial-branch="+branch)
	return r, err
}

// URL returns the URL for Argo CD.
func (r *Repository) URL() string { return "file://" + filepath.ToSlash(r.Dir) }

// Write writes a file, given by its path below the work tree.
func (r *Repository) Write(name, content string) error {
	path := filepath.Join(r.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot make folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		return fmt.Errorf("cannot write file: %w", err)
	}
	return nil
}

// Commit commits the work tree as it is, and returns the commit.
func (r *Repository) Commit(ctx context.Context, message string) (string, error) {
	if _, err := r.git(ctx, "add", "--all"); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, "commit", "--quiet", "--message", message); err != nil {
		return "", err
	}
	return r.git(ctx, "rev-parse", "HEAD")
}

// git runs git without the settings of the user, and returns what it prints.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.org", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.org")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = fmt.Errorf("%w: %w", errMissing, err)
		}
		return "", fmt.Errorf("cannot run git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}
