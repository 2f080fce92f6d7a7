package image

import (
	"context"
	"fmt"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Relock has clients make lock files of the request's tree anew, each in a container of
// its own that reaches registries alone: what Repo.Policy allows. The tree has the files
// of one side of a merge (SUB-19). A text made of the same files before, by the same
// client, is taken again. E_IMAGE: one cannot be made, or the made one is not whole.
func (b *Builder) Relock(ctx context.Context, req Request, conflicts []ecosystem.LockConflict) ([]ecosystem.MadeFile, error) {
	if err := req.validateRequest(); err != nil {
		return nil, err
	}
	if req.Repo == nil || req.Repo.Policy == nil || req.Offline || b.registryStore(req) == nil {
		return nil, company.E(company.EImage, "no registry is asked here, so that no client can make a lock file anew")
	}
	ctx, cancel := b.withTimeout(ctx, req)
	defer cancel()
	tree, err := listTree(ctx, *req.Repo, req.Repo.locksCommit())
	if err != nil {
		return nil, err
	}
	var out []ecosystem.MadeFile
	for _, c := range conflicts {
		client, r, err := findRelock(newSources(ctx, &layerPlan{b: b}, tree, req), req, c.Path)
		if err != nil {
			return nil, err
		}
		text, _, err := b.resolveLock(ctx, req, client, r, req.Repo.Policy)
		if err != nil {
			return nil, layerError(client, err)
		}
		if r.Restore != nil {
			text = r.Restore(text, c.Ours, c.Theirs)
		}
		if err := checkRelocked(c, r, text); err != nil {
			return nil, err
		}
		out = append(out, ecosystem.MadeFile{Path: c.Path, Command: r.ToKeep, Text: text})
	}
	return out, nil
}

// findRelock finds the client of a lock file among the toolchains of a request.
func findRelock(s *sources, req Request, lock string) (client string, r ecosystem.Resolution, err error) {
	for _, e := range catalog.Of[ecosystem.Relocker]() {
		if !slices.Contains(req.Toolchains, e.Name()) {
			continue
		}
		r, ok, err := e.Relock(s, lock) // also of other files: it claims its manifests
		if ok = ok && e.Relocks(path.Base(lock)); ok || err != nil {
			return e.Name(), r, err
		}
	}
	return "", r, company.E(company.EImage, "the image has no client that makes "+lock+" anew")
}

// checkRelocked holds a lock file that was made against the sides: it can be read, and
// names each package that the manifests ask for and that a side has.
func checkRelocked(c ecosystem.LockConflict, r ecosystem.Resolution, text []byte) error {
	made, notes := depproxy.ParseLocks(map[string][]byte{c.Path: text})
	if len(notes) > 0 {
		return company.E(company.EImage, "what `"+r.ToKeep+"` has made cannot be read: "+notes[0])
	}
	for _, side := range [][]byte{c.Ours, c.Theirs} {
		had, _ := depproxy.ParseLocks(map[string][]byte{c.Path: side})
		for _, w := range r.Wants {
			is := func(d company.Dependency) bool { return d.Ecosystem == w.Ecosystem && d.Name == w.Name }
			if slices.ContainsFunc(had, is) && !slices.ContainsFunc(made, is) {
				return company.E(company.EImage, fmt.Sprintf("what `%s` has made of %s lacks %s", r.ToKeep, c.Path, w.Name))
			}
		}
	}
	return nil
}
