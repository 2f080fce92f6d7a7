package image

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/depproxy"
)

// Relock runs clients that regenerate lock files of the request's tree. Each runs in its own
// container, which can only reach the registries that Repo.Policy allows. The tree holds the files of
// one side of a merge (SUB-19). A lock file that the same client made from the same files before is
// reused. Relock returns E_IMAGE if a lock file cannot be made or is incomplete.
func (b *Builder) Relock(
	ctx context.Context, req Request, conflicts []ecosystem.LockConflict,
) ([]ecosystem.MadeFile, error) {
	if err := req.validateRequest(); err != nil {
		return nil, err
	}
	if req.Repo == nil || req.Repo.Policy == nil || req.Offline || b.registryStore(req) == nil {
		return nil, company.E(company.EImage, "cannot rebuild a lock file: registries are off here")
	}
	ctx, cancel := b.withTimeout(ctx, req)
	defer cancel()
	tree, err := listTree(ctx, *req.Repo, req.Repo.locksCommit())
	if err != nil {
		return nil, err
	}
	var out []ecosystem.MadeFile
	for _, lockConflict := range conflicts {
		client, resolution, err := findRelock(newSources(ctx, &layerPlan{b: b}, tree, req), req, lockConflict.Path)
		if err != nil {
			return nil, err
		}
		text, _, err := b.resolveLock(ctx, req, client, resolution, req.Repo.Policy)
		if err != nil {
			return nil, layerError(client, err)
		}
		if resolution.Restore != nil {
			text = resolution.Restore(text, lockConflict.Ours, lockConflict.Theirs)
		}
		if err := checkRelocked(lockConflict, resolution, text); err != nil {
			return nil, err
		}
		out = append(out, ecosystem.MadeFile{Path: lockConflict.Path, Command: resolution.ToKeep, Text: text})
	}
	return out, nil
}

// findRelock finds the client for a lock file among the toolchains of a request.
func findRelock(s *sources, req Request, lock string) (client string, resolution ecosystem.Resolution, err error) {
	for _, relocker := range catalog.Of[ecosystem.Relocker]() {
		if !slices.Contains(req.Toolchains, relocker.Name()) {
			continue
		}
		r, ok, err := relocker.Relock(s, lock) // called for all lock files, because it claims its manifests
		if ok = ok && relocker.Relocks(path.Base(lock)); ok || err != nil {
			return relocker.Name(), r, err
		}
	}
	return "", resolution, company.E(company.EImage, "the image has no client to rebuild "+lock)
}

// checkRelocked compares a regenerated lock file with both sides of the merge. It must be readable,
// must contain each wanted package that a side has, and must not return to a version that theirs has
// replaced. Clients start from the file of ours and keep its versions. Without this check, they would
// undo versions that theirs has raised only in its lock file.
func checkRelocked(lockConflict ecosystem.LockConflict, resolution ecosystem.Resolution, text []byte) error {
	made, notes := depproxy.ParseLocks(map[string][]byte{lockConflict.Path: text})
	if len(notes) > 0 {
		return company.E(company.EImage, "cannot read what `"+resolution.ToKeep+"` has written: "+notes[0])
	}
	for _, side := range [][]byte{lockConflict.Ours, lockConflict.Theirs} {
		had, _ := depproxy.ParseLocks(map[string][]byte{lockConflict.Path: side})
		for _, dependency := range resolution.Wants {
			is := func(d company.Dependency) bool {
				return d.Ecosystem == dependency.Ecosystem && d.Name == dependency.Name
			}
			if slices.ContainsFunc(had, is) && !slices.ContainsFunc(made, is) {
				return company.E(company.EImage,
					fmt.Sprintf("after `%s`, %s lacks %s", resolution.ToKeep, lockConflict.Path, dependency.Name))
			}
		}
	}
	return checkReplaced(lockConflict, resolution, made)
}

// checkReplaced checks the packages of which theirs has removed a version. The new lock file must have
// a version that theirs has added, or at least none that is older.
func checkReplaced(
	lockConflict ecosystem.LockConflict, resolution ecosystem.Resolution, made []company.Dependency,
) error {
	base := versionsIn(lockConflict.Path, lockConflict.Base)
	ours := versionsIn(lockConflict.Path, lockConflict.Ours)
	theirs := versionsIn(lockConflict.Path, lockConflict.Theirs)
	now := versionsOf(made)
	for name := range theirs {
		gone, fresh := subtractTexts(base[name], theirs[name]), subtractTexts(theirs[name], base[name])
		if len(gone) == 0 || len(subtractTexts(fresh, now[name])) < len(fresh) {
			continue
		}
		back := subtractTexts(gone, subtractTexts(gone, now[name]))
		if len(back) == 0 && len(fresh) > 0 && len(subtractTexts(now[name], slices.Concat(base[name], ours[name]))) == 0 {
			newest := slices.MaxFunc(fresh, compareVersions)
			back = slices.DeleteFunc(slices.Clone(now[name]), func(v string) bool { return compareVersions(v, newest) > 0 })
		}
		if len(back) > 0 {
			return company.E(company.EImage,
				fmt.Sprintf("one side replaced %s %s with %s, but after `%s`, %s has %s",
					name.name, strings.Join(gone, ", "), strings.Join(theirs[name], ", "), resolution.ToKeep, lockConflict.Path,
					strings.Join(back, ", ")))
		}
	}
	return nil
}

// packageName identifies a package in a registry.
type packageName struct{ ecosystem, name string }

func versionsIn(path string, text []byte) map[packageName][]string {
	dependencies, _ := depproxy.ParseLocks(map[string][]byte{path: text})
	return versionsOf(dependencies)
}

func versionsOf(dependencies []company.Dependency) map[packageName][]string {
	versions := map[packageName][]string{}
	for _, dependency := range dependencies {
		name := packageName{dependency.Ecosystem, dependency.Name}
		versions[name] = append(versions[name], dependency.Version)
	}
	return versions
}

// subtractTexts returns the texts of list that are not in other.
func subtractTexts(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(other, text) })
}

// compareVersions compares versions of npm and of crates.
func compareVersions(a, b string) int { return semver.Compare("v"+a, "v"+b) }
