package image

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/lib/safetext"
)

// resolvedTTL is how long tasks with the same manifests get the same versions. After that the newest
// versions are resolved again.
const resolvedTTL = 7 * 24 * time.Hour

// resolvedFolder returns the folder of the lock files that were generated for a project.
func (b *Builder) resolvedFolder(project string) string {
	return filepath.Join(b.resolved, string(hashKey(project)[:20]))
}

// readResolved returns the lock file that the same client made from the same manifests, and its time.
// It returns nil if there is none.
func (b *Builder) readResolved(project string, key company.Hash) (lock []byte, made time.Time) {
	file := filepath.Join(b.resolvedFolder(project), string(key))
	info, err := os.Stat(file)
	if err != nil || !clock.Within(resolvedTTL, info.ModTime()) {
		return nil, time.Time{}
	}
	lock, err = os.ReadFile(file)
	if err != nil || len(lock) == 0 {
		return nil, time.Time{}
	}
	return lock, info.ModTime()
}

// keepResolved stores a lock file for later tasks. It also removes old lock files of this project, and
// the folders of projects without recent ones.
func (b *Builder) keepResolved(ctx context.Context, project string, key company.Hash, lock []byte) {
	dir := b.resolvedFolder(project)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		part := filepath.Join(dir, safetext.Cut(string(key), 20)+".part") // safe: the caller holds the lock of the resolution
		if err = os.WriteFile(part, lock, 0o600); err == nil {
			err = placeFile(part, filepath.Join(dir, string(key)))
		}
	}
	if err != nil {
		b.log.WarnContext(ctx, "a resolution is not kept", "err", err)
	}
	dropOld(dir)
	dropOld(b.resolved)
}

// dropOld removes the entries of a folder that are older than resolvedTTL.
func dropOld(dir string) {
	all, _ := os.ReadDir(dir)
	for _, entry := range all {
		if info, err := entry.Info(); err == nil && !clock.Within(resolvedTTL, info.ModTime()) {
			_ = os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}

// KeepMade returns the JSON text that was made from the same inputs for a project within resolvedTTL.
// If there is none, it calls make and stores the result, unless it is nil. Concurrent callers wait for
// one call of make.
func (b *Builder) KeepMade(
	ctx context.Context, project string, inputs []string, make func(context.Context) ([]byte, error),
) ([]byte, error) {
	key := hashKey(inputs...)
	unlock, err := b.lockLayer(ctx, "made-"+string(key[:3])) // short key: locks are never removed
	if err != nil {
		return nil, err
	}
	defer unlock()
	if text, _ := b.readResolved(project, key); json.Valid(text) { // a text damaged by a crash is made again
		return text, nil
	}
	text, err := make(ctx)
	if err == nil && text != nil {
		b.keepResolved(ctx, project, key, text)
	}
	return text, err
}

// forgetResolved removes the lock files of a request whose image cannot be built, because a version
// may have left its registry.
func (b *Builder) forgetResolved(ctx context.Context, req Request, err error) {
	if err == nil || req.Repo == nil || req.Repo.Locks == "" || errors.Is(err, context.Canceled) {
		return
	}
	if err := os.RemoveAll(b.resolvedFolder(req.project())); err != nil {
		b.log.WarnContext(ctx, "a resolution is not forgotten", "err", err)
	}
}
