package node

import (
	"maps"
	"path"

	"company/internal/ecosystem"
)

var _ ecosystem.Relocker = Ecosystem{}

// Relocks reports whether a file is a lock file of npm.
func (Ecosystem) Relocks(name string) bool {
	return name == "package-lock.json" || name == "npm-shrinkwrap.json"
}

// Relock is a run of npm for a lock file of a merge. It reads the file as it is: what
// that names is not fetched.
func (Ecosystem) Relock(s ecosystem.Sources, lock string) (r ecosystem.Resolution, ok bool, err error) {
	p, err := readProjects(s)
	dir := path.Dir(lock)
	if err != nil || p.locks[dir] != lock {
		return r, false, err
	}
	files, err := readSettings(s, dir)
	if err != nil {
		return r, false, err
	}
	texts, err := s.ReadTexts(append([]string{lock}, p.manifests...))
	if err != nil {
		return r, false, err
	}
	shown := map[string][]byte{lock: texts[lock]}
	maps.Copy(shown, files)
	r = NewResolution(s, dir, path.Base(lock), p.manifests, texts, shown)
	r.Says, r.ToKeep, r.Restore = Says, toLock, restoreAddresses(s.Places())
	r.Step = RelockStep(r, dir, toLock+" --ignore-scripts", ClientEnv(s.Places()))
	return r, true, nil
}
