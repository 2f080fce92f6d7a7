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

const maxManifests = 500 // package.json files that are looked at

// settings of a project's .npmrc change what an installation is. The rest
// names registries, credentials and scripts.
var settings = []string{"legacy-peer-deps", "strict-peer-deps", "install-strategy"}

// toLock is how a person makes a lock file.
const toLock = "npm install --package-lock-only"

// Installs is a layer of what package-lock.json files name. Manifests without
// a lock file are noted.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	p, err := readProjects(s)
	if err != nil {
		return nil, err
	}
	manifests, locks, shown := p.manifests, p.locks, p.shown
	dirs := ecosystem.LimitProjects(s, p.locked, "npm lock files are installed")
	in := ecosystem.Install{
		Layer: "npm", Registry: ecosystem.NPM, Locks: map[string][]byte{}, Says: Says,
		Collector: func() ecosystem.Collector { return NewCollector(s.Places(), "npm") },
	}
	stage := NewStage(s)
	var installed []string
	for _, dir := range dirs {
		noteSecondLock(s, dir, path.Base(locks[dir]))
		lock, err := ecosystem.ReadText(s, locks[dir])
		if err != nil {
			return nil, err
		}
		in.Locks[locks[dir]] = lock
		some, remote := lockNamesPackages(lock)
		if !some && !NamesPackages(shown[path.Join(dir, "package.json")]) {
			continue
		}
		in.Remote = in.Remote || remote || !some
		files := map[string][]byte{locks[dir]: canonicalLock(lock)}
		for _, m := range manifests {
			if ecosystem.IsWithin(path.Dir(m), dir) {
				files[m] = shown[m]
			}
		}
		settings, err := readSettings(s, dir)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, settings)
		stage.Add(files)
		installed = append(installed, dir)
		lockName := ecosystem.LockPaths([]string{dir}, "package-lock.json")
		in.Steps = append(in.Steps, ecosystem.Step{
			Dir: dir, Command: installCommand(s, locks[dir]), Env: ClientEnv(s.Places()), Progress: "installing the npm packages of " + lockName,
			Failure: "the npm packages of " + lockName + " cannot be installed",
			Fix:     "check that `npm ci --ignore-scripts` works in your checkout and `npm config get registry` answers; or go on without them, with container.deps: off: what needs them stays red",
		})
	}
	if !noteOtherLocks(s, p) {
		noteUnlocked(s, manifests, shown, dirs, p.unlocked, toLock)
	}
	if len(in.Steps) == 0 {
		return nil, nil
	}
	in.What = ecosystem.LockPaths(installed, "package-lock.json")
	in.Why = "the packages of " + in.What
	in.Stage, in.Inputs = stage.Files(), stage.Inputs()
	AddScripts(s, &in, NamesIn(in.Locks, Ecosystem{}))
	return []ecosystem.Install{in}, nil
}

// installCommand installs what a lock file names. For one that the base does not have,
// since it was made for the task, it is no `npm ci`: that refuses a lock file without an
// optional package, though npm itself leaves out those that the registry does not have.
// The versions are the lock file's all the same, and no others may be fetched.
func installCommand(s ecosystem.Sources, lock string) string {
	if s.Base().HasFile(lock) {
		return "npm ci --ignore-scripts"
	}
	return "npm install --ignore-scripts --no-save"
}

// Says is how npm fails.
var Says = ecosystem.Words{
	Permanent: []string{
		"npm error code EUSAGE", "npm error code EJSONPARSE", "npm error code E404", "npm error code E403", "npm error code ETARGET", "npm error code ERESOLVE",
		"npm error code EINTEGRITY", "npm error code EBADENGINE", "npm error code EBADPLATFORM", "npm error code EINVALIDPACKAGENAME",
	},
	Remedies: []ecosystem.Remedy{
		// An optional package: npm found no version, and the lock file names none.
		{Says: "@ from lock file", Fix: "delete package-lock.json, which lacks what is named here, and make it anew with `" + toLock + "`; where your registry does not have that, leave package-lock.json out of the repository: each task resolves the packages then"},
		{Says: "npm error code EUSAGE", Fix: "run `" + toLock + "` in your checkout and commit package-lock.json"},
		{Says: "npm error code EJSONPARSE", Fix: "mend the file that is named here: npm cannot read it"},
		{Says: "npm error code ETARGET", Fix: "run `" + toLock + "` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
		{Says: "npm error code E404", Fix: "see with `npm view` whether your registry has what is named here; mend its name or version in package.json, run `" + toLock + "` and commit both files"},
		{Says: "npm error code ERESOLVE", Fix: "choose versions in package.json that go together, run `" + toLock + "` and commit both files"},
		{Says: "npm error code EINTEGRITY", Fix: "the registry has another file than the lock file's: find out why, then run `" + toLock + "` and commit package-lock.json"},
	},
	Telling: []string{"npm error 4", "npm error 5", "npm error notarget", "npm error Missing:", "npm error `npm ci`", "npm error The `npm ci`", "npm error", "npm ERR!"},
}

// ClientEnv makes npm ask the mirrors and run nothing.
func ClientEnv(p ecosystem.Places) map[string]string {
	return map[string]string{
		"npm_config_registry": p.Registry + "/npm/", "npm_config_replace_registry_host": "npmjs", "npm_config_ignore_scripts": "true",
		"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false", "npm_config_progress": "false",
		"npm_config_cache": "/tmp/npm", "npm_config_userconfig": "/tmp/npmrc", "npm_config_fetch_retries": "0", "npm_config_loglevel": "error",
	}
}

// Resolutions are runs of npm for the manifests that no lock file is for.
func (Ecosystem) Resolutions(s ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	p, err := readProjects(s)
	if err != nil {
		return nil, err
	}
	for _, dir := range p.unlocked {
		settings, err := readSettings(s, dir)
		if err != nil {
			return nil, err
		}
		r := NewResolution(s, dir, "package-lock.json", p.manifests, p.shown, settings)
		r.Says, r.ToKeep = Says, toLock
		r.Step = ResolveStep(r, dir, "npm install --package-lock-only --ignore-scripts", ClientEnv(s.Places()))
		out = append(out, r)
	}
	return out, nil
}

// projects are the manifests of a tree that no other client has claimed.
type projects struct {
	manifests []string
	shown     map[string][]byte // manifests with the fields that count
	locks     map[string]string // directory → lock file
	locked    []string          // folders whose lock files are installed
	unlocked  []string          // folders that have none, and are resolved
}

func readProjects(s ecosystem.Sources) (p projects, err error) {
	p = projects{manifests: Manifests(s), locks: map[string]string{}}
	if p.shown, err = s.ReadTexts(p.manifests); err != nil {
		return p, err
	}
	root := ReadManager(p.shown["package.json"])
	others := map[string]bool{} // those of clients whose toolchain is not asked for
	for _, m := range p.manifests {
		client := FindClient(s.HasFile, path.Dir(m), ReadManager(p.shown[m]), root)
		others[m] = client == "yarn" || client == "pnpm"
	}
	for m, text := range p.shown {
		p.shown[m] = ReduceManifest(text)
	}
	// npm prefers the second.
	for _, name := range append(s.FilesNamed("package-lock.json"), s.FilesNamed("npm-shrinkwrap.json")...) {
		if s.HasFile(path.Join(path.Dir(name), "package.json")) {
			p.locks[path.Dir(name)] = name
		}
	}
	var mayResolve []string
	all := newWorkspaces(s, p.shown)
	for _, m := range p.manifests {
		dir := path.Dir(m)
		if p.locks[dir] != "" && !all.isInstalledAbove(dir, p.locks) {
			p.locked = append(p.locked, dir)
		}
		if lockedByOther(s, m) == "" && !others[m] {
			mayResolve = append(mayResolve, m)
		}
	}
	p.unlocked = FindUnlocked(mayResolve, p.shown, p.locked, all.covers)
	return p, nil
}

// lockedByOther is the unsupported client that a manifest is locked by; empty: none is.
func lockedByOther(s ecosystem.Sources, manifest string) string {
	for _, other := range unsupportedManagers {
		if s.HasFile(path.Join(path.Dir(manifest), other.lock)) || s.HasFile(other.lock) {
			return other.name
		}
	}
	return ""
}

// noteOtherLocks notes a manifest that is locked by an unsupported client.
func noteOtherLocks(s ecosystem.Sources, p projects) (noted bool) {
	for _, m := range p.manifests {
		if !NamesPackages(p.shown[m]) || slices.ContainsFunc(p.locked, func(d string) bool { return ecosystem.IsWithin(path.Dir(m), d) }) {
			continue
		}
		if other := lockedByOther(s, m); other != "" {
			s.AddNote("%s is locked by %s, which is not supported: nothing is installed (a package-lock.json made by `%s` is)", m, other, toLock)
			return true
		}
	}
	return false
}

// lockNamesPackages tells whether a lock file asks for anything, and whether that is
// more than links to the project's own workspaces.
func lockNamesPackages(text []byte) (some, remote bool) {
	var lock struct {
		Packages     map[string]struct{ Link bool }
		Dependencies map[string]any // of the oldest form
	}
	if json.Unmarshal(text, &lock) != nil {
		return true, true // npm reports its fault
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

// canonicalLock gives every file of a registry the public registry's address,
// which npm replaces by the configured one: a lock file made against a mirror
// works against any other. The digests stay.
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

// readSettings are the settings of a folder that npm is shown.
func readSettings(s ecosystem.Sources, dir string) (map[string][]byte, error) {
	rc := path.Join(dir, ".npmrc")
	if !s.HasFile(rc) {
		return nil, nil
	}
	text, err := ecosystem.ReadText(s, rc)
	return map[string][]byte{rc: FilterSettings(text, settings)}, err
}

// FilterSettings keeps the settings of an .npmrc that count.
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

// RegistryFile is the name by which registries have the file of a package, where its address in
// a lock file is one of a registry. Most have NAME/-/FILE; the files of GitHub's registry lie at
// download/NAME/VERSION/DIGEST, and those of JSR's at NAME/VERSION.tgz. Any other address is
// asked for as it is: the package does not come from a registry.
func RegistryFile(address, name, version string) (file string, ok bool) {
	before, file, isUsual := cutLast(address, "/-/")
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		return "", false
	}
	if isUsual {
		return file, before != "" && strings.HasSuffix(file, ".tgz") && !strings.Contains(file, "/")
	}
	folder, _, _ := cutLast(address, "/")
	if version == "" || !strings.HasSuffix(folder, "/download/"+name+"/"+version) && !strings.HasSuffix(address, "/"+name+"/"+version+".tgz") {
		return "", false
	}
	return nameWithoutScope(name) + "-" + version + ".tgz", true
}
