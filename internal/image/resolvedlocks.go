package image

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"company/internal/clock"
	"company/internal/company"
	"company/internal/safetext"
)

// resolvedTTL is how long tasks on the same manifests get the same versions. Later the
// newest ones are taken again.
const resolvedTTL = 7 * 24 * time.Hour

// resolvedFolder is where the lock files are kept that were made for a project.
func (b *Builder) resolvedFolder(project string) string {
	return filepath.Join(b.resolved, string(hashKey(project)[:20]))
}

// readResolved gives the lock file that was made of the same manifests by the same
// client, and when; nil: there is none.
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

// keepResolved keeps a lock file for the tasks to come, and drops old ones:
// in this project's folder, and the folders of projects that keep nothing any more.
func (b *Builder) keepResolved(ctx context.Context, project string, key company.Hash, lock []byte) {
	dir := b.resolvedFolder(project)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		part := filepath.Join(dir, safetext.Cut(string(key), 20)+".part") // the lock of the resolution is held
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

// dropOld removes what nothing was written to in a folder for as long as texts are kept.
func dropOld(dir string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if info, err := e.Info(); err == nil && !clock.Within(resolvedTTL, info.ModTime()) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// KeepMade gives the JSON text that was made of the same inputs for a project, within the time
// that lock files are kept, or makes it and keeps it with them. Of several who ask at the
// same time one makes it. A nil text is not kept.
func (b *Builder) KeepMade(ctx context.Context, project string, inputs []string, make func(context.Context) ([]byte, error)) ([]byte, error) {
	key := hashKey(inputs...)
	unlock, err := b.lockLayer(ctx, "made-"+string(key[:3])) // few, since locks are never removed
	if err != nil {
		return nil, err
	}
	defer unlock()
	if text, _ := b.readResolved(project, key); json.Valid(text) { // one that a crash spoiled is made again
		return text, nil
	}
	text, err := make(ctx)
	if err == nil && text != nil {
		b.keepResolved(ctx, project, key, text)
	}
	return text, err
}

// forgetResolved drops the lock files of a request whose image cannot be made: a version
// may be gone from its registry.
func (b *Builder) forgetResolved(ctx context.Context, req Request, err error) {
	if err == nil || req.Repo == nil || req.Repo.Locks == "" || errors.Is(err, context.Canceled) {
		return
	}
	if err := os.RemoveAll(b.resolvedFolder(req.project())); err != nil {
		b.log.WarnContext(ctx, "a resolution is not forgotten", "err", err)
	}
}
