package php

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/safetext"
)

const maxManifests = 500 // composer.json files that composer is shown

// composerHome is where composer's settings lie beside the manifests of a project.
const composerHome = ".company-composer"

const toLock = "composer update"

// says is how composer fails.
var says = ecosystem.Words{
	Permanent: []string{
		"Your requirements could not be resolved to an installable set of packages", "Your lock file does not contain a compatible set of packages", "is not present in the lock file",
		"does not contain valid JSON", "does not match the expected JSON schema", "The checksum verification of the file failed", "the registry has another commit of", "only a repository of git",
	},
	Telling: []string{"Warning from 127.0.0.1", "- Root composer.json requires", "- Required package", "Problem 1", "The checksum verification", "Your "},
	Remedies: []ecosystem.Remedy{
		{Says: "php version", Fix: "the image has PHP " + debianPHP + ": lock versions that run on it (`composer config platform.php " + debianPHP + "`, then `" + toLock + "`), and commit both files"},
		{Says: "is not present in the lock file", Fix: "run `" + toLock + " --lock` in your checkout and commit composer.lock"},
		{Says: "the registry has another commit of", Fix: "run the command that is named here in your checkout, and commit composer.lock"},
		{Says: "the registry does not have it", Fix: "see with `composer show --available` whether your registry has what is named here; a package that only a git repository has must be committed in vendor/"},
	},
}

// Installs is a layer of the packages that composer.lock files name: a folder vendor for
// each. Neither scripts nor plugins of a project run.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	p, err := readProjects(s)
	if err != nil {
		return nil, err
	}
	p.noteOpen(s)
	dirs := ecosystem.LimitProjects(s, p.locked, "composer.lock files are installed")
	if len(dirs) == 0 {
		return nil, nil
	}
	in := ecosystem.Install{Layer: "composer", Registry: ecosystem.Packagist, Remote: true, Locks: map[string][]byte{}, Says: says, What: ecosystem.LockPaths(dirs, lockFile)}
	in.Why = "the packages of " + in.What
	in.Stage, in.Inputs = p.stageManifests(s)
	var made []string
	for _, dir := range dirs {
		lock := path.Join(dir, lockFile)
		in.Locks[lock] = p.locks[dir]
		if all, err := (Ecosystem{}).ParseLock(lock, p.locks[dir]); err == nil { // composer reports its fault
			in.Ahead = append(in.Ahead, all...)
		}
		in.Stage = append(in.Stage, ecosystem.StagedFile{Path: lock, Text: p.locks[dir]})
		in.Inputs = append(in.Inputs, lock, s.HashText(string(p.locks[dir])))
		if !s.Base().HasFile(lock) {
			made = append(made, lock)
			in.Inputs = append(in.Inputs, "made "+lock)
		}
		step := ecosystem.Step{
			Progress: "installing the packages of " + lock, Failure: "the packages of " + lock + " cannot be installed",
			Fix: "check that `composer install --no-scripts --no-plugins` works in your checkout; or go on without them, with container.deps: off: what needs them stays red",
		}
		in.Steps = append(in.Steps, p.runComposer(step, dir, "install --no-autoloader"))
	}
	in.Collector = func() ecosystem.Collector { return collector{s.Places(), dirs, made, in.Locks} }
	return []ecosystem.Install{in}, nil
}

// Resolutions are runs of composer for the manifests that no lock file is for.
func (Ecosystem) Resolutions(s ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	p, err := readProjects(s)
	if err != nil {
		return nil, err
	}
	for _, dir := range p.open[:min(len(p.open), ecosystem.MaxProjects)] {
		name := path.Join(dir, manifest)
		r := ecosystem.Resolution{Lock: path.Join(dir, lockFile), Manifest: name, ToKeep: toLock, Says: says, Wants: p.listWants(dir)}
		r.Stage, _ = p.stageManifests(s)
		step := ecosystem.Step{
			Progress: "choosing the packages of " + name + ", which has no " + lockFile, Failure: "the packages that " + name + " wants cannot be chosen, and it has no " + lockFile,
			Fix: "make one with `" + toLock + "` in your checkout, and commit it; or go on without them, with container.deps: off: what needs them stays red",
		}
		r.Step = p.runComposer(step, dir, "update --no-install --no-audit")
		out = append(out, r)
	}
	return out, nil
}

// projects are the manifests of a tree, and the folders whose packages are installed.
type projects struct {
	manifests map[string][]byte // with the fields that count
	locks     map[string][]byte // by folder
	locked    []string
	open      []string // without a lock file, the upper ones
	git       []string // folders whose lock files name packages of git repositories
	odd       []string // folders that have their packages elsewhere
}

func readProjects(s ecosystem.Sources) (p projects, err error) {
	p = projects{manifests: map[string][]byte{}, locks: map[string][]byte{}}
	var names, locks []string
	for _, name := range s.FilesNamed(manifest) {
		if dir := path.Dir(name); ecosystem.IsPlainPath(dir) && (dir == "." || !ecosystem.IsForeignDir(dir)) && len(names) < maxManifests {
			names = append(names, name)
			if lock := path.Join(dir, lockFile); s.HasFile(lock) {
				locks = append(locks, lock)
			}
		}
	}
	texts, err := s.ReadTexts(slices.Concat(names, locks)) // bounded together: one text may lie in all folders
	if err != nil {
		return p, err
	}
	for _, name := range names {
		p.manifests[name] = reduceManifest(texts[name])
	}
	for _, name := range names {
		dir := path.Dir(name)
		if s.HasFile(path.Join(dir, "vendor/autoload.php")) {
			continue
		}
		lock, hasLock := texts[path.Join(dir, lockFile)]
		if hasLock {
			p.locks[dir] = lock
		}
		all, lockErr := readLock(lock)
		within := func(top string) bool { return ecosystem.IsWithin(dir, top) }
		switch {
		case parseManifest(texts[name]).Config.Vendor != "":
			p.odd = append(p.odd, dir)
		case hasLock && slices.ContainsFunc(all, lockedPackage.isOfGit):
			p.git = append(p.git, dir)
		case hasLock && (lockErr != nil || len(all) > 0): // composer reports the fault of one that cannot be read
			p.locked = append(p.locked, dir)
		case !hasLock && len(parseManifest(texts[name]).listPackages()) > 0 && !slices.ContainsFunc(p.open, within) && !slices.ContainsFunc(p.locked, within):
			p.open = append(p.open, dir)
		}
	}
	return p, nil
}

// noteOpen notes packages that are not installed, or not of a lock file.
func (p projects) noteOpen(s ecosystem.Sources) {
	for _, dir := range p.git {
		all, _ := readLock(p.locks[dir])
		i := slices.IndexFunc(all, lockedPackage.isOfGit)
		s.AddNote("%s names %s of a git repository, which is not fetched: its packages are not installed (vendor/ can be in the repository)", path.Join(dir, lockFile), safetext.Cut(safetext.StripLine(all[i].Name), 60))
	}
	for _, dir := range p.odd {
		s.AddNote("%s sets vendor-dir: its packages are not installed", path.Join(dir, manifest))
	}
	for _, dir := range p.open {
		if name := path.Join(dir, manifest); s.IsOffline() {
			s.AddNote("%s has no %s: nothing is installed, since container.deps is off", name, lockFile)
		} else {
			s.AddNote("%s has no %s: each task resolves it anew (make one with `%s`)", name, lockFile, toLock)
		}
	}
}

// stageManifests lists the files that composer is shown beside the lock files: its settings, and the manifests of all
// folders, since a project may name a folder of the tree as a package.
func (p projects) stageManifests(s ecosystem.Sources) (files []ecosystem.StagedFile, inputs []string) {
	home := homeFiles(s.Places().Registry + "/" + ecosystem.Packagist)
	shown := maps.Clone(p.manifests)
	for name, text := range home {
		shown[path.Join(composerHome, name)] = []byte(text)
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		files = append(files, ecosystem.StagedFile{Path: name, Text: shown[name]})
		inputs = append(inputs, name, s.HashText(string(shown[name])))
	}
	return files, inputs
}

// runComposer has a step run a command of composer's in a folder.
func (p projects) runComposer(step ecosystem.Step, dir, command string) ecosystem.Step {
	step.Dir = "."
	step.Command = "COMPOSER_HOME=$PWD/" + composerHome + " php -d default_socket_timeout=" + strconv.Itoa(ecosystem.ClientPatience) + " /usr/bin/composer " + command +
		" --working-dir=" + dir + " --no-interaction --no-progress --no-scripts"
	step.Env = map[string]string{"COMPOSER_CACHE_DIR": "/dev/null", "COMPANY_FILES_ONLY": "1", "COMPOSER_IGNORE_PLATFORM_REQ": ignoredPlatform}
	aliases := parseManifest(p.manifests[path.Join(dir, manifest)]).Extra.BranchAlias
	for _, branch := range slices.Sorted(maps.Keys(aliases)) {
		if alias := aliases[branch]; versionRE.MatchString(alias) {
			step.Env["COMPOSER_ROOT_VERSION"] = alias // there is no history here to tell it
		}
	}
	return step
}

// listWants lists the packages that a folder's manifest and those of the folders below it ask for. The folders below
// may be packages of the project itself, whose needs are the project's.
func (p projects) listWants(dir string) (out []company.Dependency) {
	names := map[string]bool{}
	for name, text := range p.manifests {
		if ecosystem.IsWithin(path.Dir(name), dir) {
			for _, one := range parseManifest(text).listPackages() {
				names[one] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, company.Dependency{Ecosystem: ecosystem.Packagist, Name: name})
	}
	return out
}

// manifestFields are the fields of a composer.json that affect which packages are chosen and
// how. Scripts, and addresses of repositories, stay out.
var manifestFields = []string{
	"name", "type", "version", "require", "require-dev", "conflict", "replace", "provide", "minimum-stability", "prefer-stable", "autoload", "autoload-dev", "extra", "bin", "target-dir",
}

// folderRepository is a repository of a manifest, whose packages may lie in folders of the tree.
type folderRepository struct {
	Type    string          `json:"type"`
	URL     string          `json:"url"`
	Options json.RawMessage `json:"options,omitempty"`
}

// reduceManifest is a manifest with the fields that count, the version of PHP that it is
// resolved for, and its packages in folders. Plugins of packages are installed as other packages
// are, and none is loaded: where nothing is said of one, composer ends. An unreadable one is
// shown as it is: composer explains the fault best.
func reduceManifest(text []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text
	}
	some := map[string]any{}
	for _, name := range manifestFields {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	settings := map[string]any{"allow-plugins": false}
	var config struct{ Platform json.RawMessage }
	if _ = json.Unmarshal(all["config"], &config); config.Platform != nil {
		settings["platform"] = config.Platform
	}
	some["config"] = settings
	var repositories []folderRepository
	_ = json.Unmarshal(all["repositories"], &repositories) // in another form it names no folder
	folders := slices.DeleteFunc(repositories, func(r folderRepository) bool { return r.Type != "path" })
	if len(folders) > 0 {
		some["repositories"] = folders
	}
	out, err := json.Marshal(some)
	if err != nil {
		return text
	}
	return out
}

// collector copies the folders vendor, in the shape of the tree.
type collector struct {
	places ecosystem.Places
	dirs   []string
	made   []string // lock files that the repository does not have
	locks  map[string][]byte
}

// Place puts the files of a vendor folder among the prepared dependencies. Links stay, which lead to packages in other
// folders of the tree; one that leads out of the tree is left out.
func (c collector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	for _, dir := range c.dirs {
		if vendor := path.Join(dir, "vendor"); e.Path != vendor && !strings.HasPrefix(e.Path, vendor+"/") {
			continue
		}
		to := ecosystem.Entry{Path: path.Join(c.places.Deps, "composer", e.Path), Link: e.Link}
		at := path.Join(path.Dir(e.Path), e.Link)
		return to, e.Link == "" || !path.IsAbs(e.Link) && at != ".." && !strings.HasPrefix(at, "../")
	}
	return e, false
}

// Files are the list of the folders, and the lock files that were made for the task.
func (c collector) Files() (out []ecosystem.ImageFile) {
	folders, locks := "", ""
	for _, dir := range c.dirs {
		if dir != "." {
			folders += dir + "/"
		}
		folders += "\n"
	}
	for _, name := range c.made {
		locks += name + "\n"
		out = append(out, ecosystem.ImageFile{Path: path.Join(c.places.Deps, "composer", name), Text: c.locks[name]})
	}
	if locks != "" {
		out = append(out, ecosystem.ImageFile{Path: c.places.Deps + "/composer.locks", Text: []byte(locks)})
	}
	return append(out, ecosystem.ImageFile{Path: c.places.Deps + "/composer.vendor", Text: []byte(folders)})
}
