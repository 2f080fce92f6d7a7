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

// Relock returns a run of npm that regenerates a lock file for a merge. npm gets the unchanged lock file,
// because it fetches no packages in this run.
func (Ecosystem) Relock(sources ecosystem.Sources, lock string) (resolution ecosystem.Resolution, ok bool, err error) {
	projects, err := readProjects(sources)
	dir := path.Dir(lock)
	if err != nil || projects.locks[dir] != lock {
		return resolution, false, err
	}
	files, err := readSettings(sources, dir)
	if err != nil {
		return resolution, false, err
	}
	texts, err := sources.ReadTexts(append([]string{lock}, projects.manifests...))
	if err != nil {
		return resolution, false, err
	}
	shown := map[string][]byte{lock: texts[lock]}
	maps.Copy(shown, files)
	resolution = NewResolution(sources, dir, path.Base(lock), projects.manifests, texts, shown)
	resolution.Says = Says
	resolution.ToKeep = toLock
	resolution.Restore = restoreAddresses(sources.Places())
	resolution.Step = RelockStep(resolution, dir, toLock+" --ignore-scripts", ClientEnv(sources.Places()))
	return resolution, true, nil
}
