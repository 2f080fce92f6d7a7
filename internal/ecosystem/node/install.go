package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

const maxManifests = 500 // package.json files that are read at most

// settings lists the settings of a project's .npmrc that change an installation. Other settings name
// registries, credentials and scripts.
var settings = []string{"legacy-peer-deps", "strict-peer-deps", "install-strategy"}

// toLock is the command with which a user creates a lock file.
const toLock = "npm install --package-lock-only"

// Installs returns a layer with the packages that package-lock.json files name. It adds notes for manifests
// without a lock file.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	projects, err := readProjects(sources)
	if err != nil {
		return nil, err
	}
	manifests := projects.manifests
	locks := projects.locks
	shown := projects.shown
	dirs := ecosystem.LimitProjects(sources, projects.locked, "npm lock files are installed")
	install := ecosystem.Install{
		Layer: "npm", Registry: ecosystem.NPM, Locks: map[string][]byte{}, Says: Says,
		Collector: func() ecosystem.Collector { return NewCollector(sources.Places(), "npm") },
	}
	stage := NewStage(sources)
	var installed []string
	for _, dir := range dirs {
		noteSecondLock(sources, dir, path.Base(locks[dir]))
		lock, err := ecosystem.ReadText(sources, locks[dir])
		if err != nil {
			return nil, err
		}
		install.Locks[locks[dir]] = lock
		some, remote := lockNamesPackages(lock)
		if !some && !NamesPackages(shown[path.Join(dir, "package.json")]) {
			continue
		}
		install.Remote = install.Remote || remote || !some
		files := map[string][]byte{locks[dir]: canonicalLock(lock)}
		for _, m := range manifests {
			if ecosystem.IsWithin(path.Dir(m), dir) {
				files[m] = shown[m]
			}
		}
		settings, err := readSettings(sources, dir)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, settings)
		stage.Add(files)
		installed = append(installed, dir)
		lockName := ecosystem.LockPaths([]string{dir}, "package-lock.json")
		install.Steps = append(install.Steps, ecosystem.Step{
			Dir: dir, Command: installCommand(sources, locks[dir]), Env: ClientEnv(sources.Places()),
			Progress: "installing the npm packages of " + lockName,
			Failure:  "the npm packages of " + lockName + " cannot be installed",
			Fix: "check that `npm ci --ignore-scripts` works in your checkout and `npm config get registry` answers; or " +
				"go on without them, with container.deps: off: what needs them stays red",
		})
	}
	if !noteOtherLocks(sources, projects) {
		noteUnlocked(sources, manifests, shown, dirs, projects.unlocked, toLock)
	}
	if len(install.Steps) == 0 {
		return nil, nil
	}
	install.What = ecosystem.LockPaths(installed, "package-lock.json")
	install.Why = "the packages of " + install.What
	install.Stage, install.Inputs = stage.Files(), stage.Inputs()
	AddScripts(sources, &install, NamesIn(install.Locks, Ecosystem{}))
	return []ecosystem.Install{install}, nil
}

// installCommand returns the command that installs the packages of a lock file. A lock file that the base
// lacks was created for the task. npm ci rejects such a file if an optional package is missing, though npm
// itself leaves out optional packages that the registry lacks. npm install uses the versions of the lock
// file too, and no others may be fetched.
func installCommand(s ecosystem.Sources, lock string) string {
	if s.Base().HasFile(lock) {
		return "npm ci --ignore-scripts"
	}
	return "npm install --ignore-scripts --no-save"
}

// Says describes npm's errors.
var Says = ecosystem.Words{
	Permanent: []string{
		"npm error code EUSAGE", "npm error code EJSONPARSE", "npm error code E404", "npm error code E403",
		"npm error code ETARGET", "npm error code ERESOLVE",
		"npm error code EINTEGRITY", "npm error code EBADENGINE", "npm error code EBADPLATFORM",
		"npm error code EINVALIDPACKAGENAME",
	},
	Remedies: []ecosystem.Remedy{
		// For an optional package: npm found no version, so the lock file has none.
		{Says: "@ from lock file", Fix: "delete package-lock.json, which lacks what is named here, and regenerate it with `" +
			toLock + "`; where your registry does not have that, leave package-lock.json out of the repository: each task " +
			"resolves the packages then"},
		{Says: "npm error code EUSAGE", Fix: "run `" + toLock + "` in your checkout and commit package-lock.json"},
		{Says: "npm error code EJSONPARSE", Fix: "mend the file that is named here: npm cannot read it"},
		{Says: "npm error code ETARGET",
			Fix: "run `" + toLock +
				"` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
		{Says: "npm error code E404",
			Fix: "see with `npm view` whether your registry has what is named here; mend its name or version in package.json, " +
				"run `" + toLock + "` and commit both files"},
		{Says: "npm error code ERESOLVE",
			Fix: "choose versions in package.json that go together, run `" + toLock + "` and commit both files"},
		{Says: "npm error code EINTEGRITY",
			Fix: "the registry has another file than the lock file's: find out why, then run `" + toLock +
				"` and commit package-lock.json"},
	},
	Telling: []string{"npm error 4", "npm error 5", "npm error notarget", "npm error Missing:", "npm error `npm ci`",
		"npm error The `npm ci`", "npm error", "npm ERR!"},
}

// ClientEnv returns variables that make npm use the mirrors and run no scripts.
func ClientEnv(places ecosystem.Places) map[string]string {
	return map[string]string{
		"npm_config_registry": places.Registry + "/npm/", "npm_config_replace_registry_host": "npmjs",
		"npm_config_ignore_scripts": "true",
		"npm_config_audit":          "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
		"npm_config_progress": "false",
		"npm_config_cache":    "/tmp/npm", "npm_config_userconfig": "/tmp/npmrc", "npm_config_fetch_retries": "0",
		"npm_config_loglevel": "error",
	}
}

// Resolutions returns a run of npm for each manifest without a lock file.
func (Ecosystem) Resolutions(sources ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	projects, err := readProjects(sources)
	if err != nil {
		return nil, err
	}
	for _, dir := range projects.unlocked {
		settings, err := readSettings(sources, dir)
		if err != nil {
			return nil, err
		}
		resolution := NewResolution(sources, dir, "package-lock.json", projects.manifests, projects.shown, settings)
		resolution.Says, resolution.ToKeep = Says, toLock
		resolution.Step = ResolveStep(
			resolution, dir, "npm install --package-lock-only --ignore-scripts", ClientEnv(sources.Places()))
		out = append(out, resolution)
	}
	return out, nil
}

// projects holds the manifests of a tree that no other client has claimed, and their lock files.
type projects struct {
	manifests []string
	shown     map[string][]byte // manifests reduced to the relevant fields
	locks     map[string]string // folder → lock file
	locked    []string          // folders whose lock files are installed
	unlocked  []string          // folders without a lock file, which are resolved
}

func readProjects(sources ecosystem.Sources) (p projects, err error) {
	p = projects{manifests: Manifests(sources), locks: map[string]string{}}
	if p.shown, err = sources.ReadTexts(p.manifests); err != nil {
		return p, err
	}
	root := ReadManager(p.shown["package.json"])
	others := map[string]bool{} // manifests of other clients
	for _, m := range p.manifests {
		client := FindClient(sources.HasFile, path.Dir(m), ReadManager(p.shown[m]), root)
		others[m] = client == "yarn" || client == "pnpm"
	}
	for m, text := range p.shown {
		p.shown[m] = ReduceManifest(text)
	}
	// npm prefers npm-shrinkwrap.json.
	for _, name := range append(sources.FilesNamed("package-lock.json"), sources.FilesNamed("npm-shrinkwrap.json")...) {
		if sources.HasFile(path.Join(path.Dir(name), "package.json")) {
			p.locks[path.Dir(name)] = name
		}
	}
	var mayResolve []string
	all := newWorkspaces(sources, p.shown)
	for _, m := range p.manifests {
		dir := path.Dir(m)
		if p.locks[dir] != "" && !all.isInstalledAbove(dir, p.locks) {
			p.locked = append(p.locked, dir)
		}
		if lockedByOther(sources, m) == "" && !others[m] {
			mayResolve = append(mayResolve, m)
		}
	}
	p.unlocked = FindUnlocked(mayResolve, p.shown, p.locked, all.covers)
	return p, nil
}

// lockedByOther returns the unsupported client that has a lock file for a manifest, or an empty string.
func lockedByOther(sources ecosystem.Sources, manifest string) string {
	for _, other := range unsupportedManagers {
		if sources.HasFile(path.Join(path.Dir(manifest), other.lock)) || sources.HasFile(other.lock) {
			return other.name
		}
	}
	return ""
}

// noteOtherLocks adds a note for the first manifest that is locked by an unsupported client, and reports
// whether there is one.
func noteOtherLocks(sources ecosystem.Sources, p projects) (noted bool) {
	for _, m := range p.manifests {
		if !NamesPackages(p.shown[m]) ||
			slices.ContainsFunc(p.locked, func(d string) bool { return ecosystem.IsWithin(path.Dir(m), d) }) {
			continue
		}
		if other := lockedByOther(sources, m); other != "" {
			sources.AddNote("%s is locked by %s, which is not supported: nothing is installed (a package-lock.json made by "+
				"`%s` is)",
				m, other, toLock)
			return true
		}
	}
	return false
}

// lockNamesPackages reports whether a lock file contains packages, and whether any of them is not a link to
// one of the project's workspaces.
func lockNamesPackages(text []byte) (some, remote bool) {
	var lock struct {
		Packages     map[string]struct{ Link bool }
		Dependencies map[string]any // in lock files of the oldest version
	}
	if json.Unmarshal(text, &lock) != nil {
		return true, true // npm reports the error
	}
	for key, p := range lock.Packages {
		if _, _, ok := cutLast(key, "node_modules/"); ok {
			some = true
			remote = remote || !p.Link
		}
	}
	if len(lock.Packages) == 0 && len(lock.Dependencies) > 0 {
		return true, true
	}
	return some, remote
}

// canonicalLock replaces the address of every registry file by that of the public registry, which npm
// replaces by the configured one. A lock file created with one mirror then works with any other. The
// digests do not change.
func canonicalLock(text []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var lock map[string]any
	if dec.Decode(&lock) != nil {
		return text
	}
	packages, _ := lock["packages"].(map[string]any)
	for key, v := range packages {
		p, _ := v.(map[string]any)
		address, _ := p["resolved"].(string)
		_, name, ok := cutLast(key, "node_modules/")
		if alias, isAlias := p["name"].(string); isAlias {
			name = alias
		}
		version, _ := p["version"].(string)
		file, isFile := RegistryFile(address, name, version)
		if !ok || !isFile {
			continue
		}
		p["resolved"] = "https://registry.npmjs.org/" + name + "/-/" + file
	}
	out, err := json.Marshal(lock)
	if err != nil {
		return text
	}
	return out
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// readSettings returns a folder's .npmrc, reduced to the settings that npm may see.
func readSettings(sources ecosystem.Sources, dir string) (map[string][]byte, error) {
	rc := path.Join(dir, ".npmrc")
	if !sources.HasFile(rc) {
		return nil, nil
	}
	text, err := ecosystem.ReadText(sources, rc)
	return map[string][]byte{rc: FilterSettings(text, settings)}, err
}

// FilterSettings returns an .npmrc with only the settings in keep.
func FilterSettings(text []byte, keep []string) []byte {
	var out strings.Builder
	for line := range strings.SplitSeq(string(text), "\n") {
		k, v, ok := strings.Cut(line, "=")
		if ok && slices.Contains(keep, strings.TrimSpace(k)) {
			fmt.Fprintf(&out, "%s=%s\n", strings.TrimSpace(k), strings.TrimSpace(v))
		}
	}
	return []byte(out.String())
}

// RegistryFile returns the file name that registries use for a package if its address in a lock file is in
// a registry. Most registries use NAME/-/FILE. GitHub's registry uses download/NAME/VERSION/DIGEST, and
// JSR's uses NAME/VERSION.tgz. For any other address ok is false: the package does not come from a
// registry, and the address stays as it is.
func RegistryFile(address, name, version string) (file string, ok bool) {
	before, file, isUsual := cutLast(address, "/-/")
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return "", false
	}
	if isUsual {
		return file, before != "" && strings.HasSuffix(file, ".tgz") && !strings.Contains(file, "/")
	}
	folder, _, _ := cutLast(address, "/")
	if version == "" || !strings.HasSuffix(folder, "/download/"+name+"/"+version) &&
		!strings.HasSuffix(address, "/"+name+"/"+version+".tgz") {
		return "", false
	}
	return nameWithoutScope(name) + "-" + version + ".tgz", true
}
