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
	"company/internal/lib/safetext"
)

const maxManifests = 500 // most composer.json files that are passed to composer

// composerHome is the folder for composer's settings beside the manifests of a project.
const composerHome = ".company-composer"

const toLock = "composer update"

// says describes composer's errors.
var says = ecosystem.Words{
	Permanent: []string{
		"Your requirements could not be resolved to an installable set of packages",
		"Your lock file does not contain a compatible set of packages", "is not present in the lock file",
		"does not contain valid JSON", "does not match the expected JSON schema",
		"The checksum verification of the file failed", "the registry has another commit of", "only a repository of git",
	},
	Telling: []string{"Warning from 127.0.0.1", "- Root composer.json requires", "- Required package", "Problem 1",
		"The checksum verification", "Your "},
	Usage: "install [--prefer-source]",
	Remedies: []ecosystem.Remedy{
		{Says: "php version", Fix: "the image has PHP " + debianPHP +
			": lock versions that run on it (`composer config platform.php " + debianPHP + "`, then `" + toLock +
			"`), and commit both files"},
		{Says: "is not present in the lock file",
			Fix: "run `" + toLock + " --lock` in your checkout and commit composer.lock"},
		{Says: "the registry has another commit of",
			Fix: "run the command that is named here in your checkout, and commit composer.lock"},
		{Says: "the registry does not have it",
			Fix: "see with `composer show --available` whether your registry has what is named here; a package that only a " +
				"git repository has must be committed in vendor/"},
	},
}

// Installs returns a layer with the packages that composer.lock files name. It holds a vendor folder for
// each file. Scripts and plugins of the project do not run.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	projects, err := readProjects(sources)
	if err != nil {
		return nil, err
	}
	projects.noteOpen(sources)
	dirs := ecosystem.LimitProjects(sources, projects.locked, "composer.lock files are installed")
	if len(dirs) == 0 {
		return nil, nil
	}
	install := ecosystem.Install{Layer: "composer", Registry: ecosystem.Packagist, Remote: true,
		Locks: map[string][]byte{},
		Says:  says, What: ecosystem.LockPaths(dirs, lockFile)}
	install.Why = "the packages of " + install.What
	install.Stage, install.Inputs = projects.stageManifests(sources)
	var made []string
	for _, dir := range dirs {
		lock := path.Join(dir, lockFile)
		install.Locks[lock] = projects.locks[dir]
		if dependencies, err := (Ecosystem{}).ParseLock(lock, projects.locks[dir]); err == nil { // composer reports the error
			install.Ahead = append(install.Ahead, dependencies...)
		}
		install.Stage = append(install.Stage, ecosystem.StagedFile{Path: lock, Text: projects.locks[dir]})
		install.Inputs = append(install.Inputs, lock, sources.HashText(string(projects.locks[dir])))
		if !sources.Base().HasFile(lock) {
			made = append(made, lock)
			install.Inputs = append(install.Inputs, "made "+lock)
		}
		step := ecosystem.Step{
			Progress: "installing the packages of " + lock, Failure: "the packages of " + lock + " cannot be installed",
			Fix: "check that `composer install --no-scripts --no-plugins` works in your checkout; or go on without them, with " +
				"container.deps: off: what needs them stays red",
		}
		install.Steps = append(install.Steps, projects.runComposer(step, dir, "install --no-autoloader"))
	}
	install.Collector = func() ecosystem.Collector { return collector{sources.Places(), dirs, made, install.Locks} }
	return []ecosystem.Install{install}, nil
}

// Resolutions returns a run of composer for each manifest without a lock file.
func (Ecosystem) Resolutions(sources ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	projects, err := readProjects(sources)
	if err != nil {
		return nil, err
	}
	for _, dir := range projects.open[:min(len(projects.open), ecosystem.MaxProjects)] {
		name := path.Join(dir, manifest)
		resolution := ecosystem.Resolution{Lock: path.Join(dir, lockFile), Manifest: name, ToKeep: toLock, Says: says,
			Wants: projects.listWants(dir)}
		resolution.Stage, _ = projects.stageManifests(sources)
		step := ecosystem.Step{
			Progress: "choosing the packages of " + name + ", which has no " + lockFile,
			Failure:  "the packages that " + name + " wants cannot be chosen, and it has no " + lockFile,
			Fix: "make one with `" + toLock +
				"` in your checkout, and commit it; or go on without them, with container.deps: off: what needs them stays red",
		}
		resolution.Step = projects.runComposer(step, dir, "update --no-install --no-audit")
		out = append(out, resolution)
	}
	return out, nil
}

// projects holds the manifests of a tree and the folders to install packages for.
type projects struct {
	manifests map[string][]byte // reduced to the relevant fields
	locks     map[string][]byte // folder → lock file
	locked    []string
	open      []string // top folders without a lock file
	git       []string // folders whose lock files name packages from git repositories
	odd       []string // folders that set vendor-dir
}

func readProjects(sources ecosystem.Sources) (p projects, err error) {
	p = projects{manifests: map[string][]byte{}, locks: map[string][]byte{}}
	var names, locks []string
	for _, name := range sources.FilesNamed(manifest) {
		if dir := path.Dir(name); ecosystem.IsPlainPath(dir) && (dir == "." || !ecosystem.IsForeignDir(dir)) &&
			len(names) < maxManifests {
			names = append(names, name)
			if lock := path.Join(dir, lockFile); sources.HasFile(lock) {
				locks = append(locks, lock)
			}
		}
	}
	texts, err := sources.ReadTexts(slices.Concat(names, locks)) // one limit for all: folders may share one text
	if err != nil {
		return p, err
	}
	for _, name := range names {
		p.manifests[name] = reduceManifest(texts[name])
	}
	for _, name := range names {
		dir := path.Dir(name)
		if sources.HasFile(path.Join(dir, "vendor/autoload.php")) {
			continue
		}
		lock, hasLock := texts[path.Join(dir, lockFile)]
		if hasLock {
			p.locks[dir] = lock
		}
		packages, lockErr := readLock(lock)
		within := func(top string) bool { return ecosystem.IsWithin(dir, top) }
		switch {
		case parseManifest(texts[name]).Config.Vendor != "":
			p.odd = append(p.odd, dir)
		case hasLock && slices.ContainsFunc(packages, lockedPackage.isOfGit):
			p.git = append(p.git, dir)
		case hasLock && (lockErr != nil || len(packages) > 0): // composer reports the error in an invalid one
			p.locked = append(p.locked, dir)
		case !hasLock && len(parseManifest(texts[name]).listPackages()) > 0 && !slices.ContainsFunc(p.open, within) &&
			!slices.ContainsFunc(p.locked, within):
			p.open = append(p.open, dir)
		}
	}
	return p, nil
}

// noteOpen adds notes about packages that are not installed or not in a lock file.
func (p projects) noteOpen(sources ecosystem.Sources) {
	for _, dir := range p.git {
		packages, _ := readLock(p.locks[dir])
		i := slices.IndexFunc(packages, lockedPackage.isOfGit)
		sources.AddNote("%s names %s of a git repository, which is not fetched: its packages are not installed (vendor/ "+
			"can be "+
			"in the repository)", path.Join(dir, lockFile), safetext.Cut(safetext.StripLine(packages[i].Name), 60))
	}
	for _, dir := range p.odd {
		sources.AddNote("%s sets vendor-dir: its packages are not installed", path.Join(dir, manifest))
	}
	for _, dir := range p.open {
		if name := path.Join(dir, manifest); sources.IsOffline() {
			sources.AddNote("%s has no %s: nothing is installed, since container.deps is off", name, lockFile)
		} else {
			sources.AddNote("%s has no %s: each task resolves it again (make one with `%s`)", name, lockFile, toLock)
		}
	}
}

// stageManifests returns the files that composer gets in addition to the lock files: its settings, and the
// manifests of all folders. A project may use any folder of the tree as a package.
func (p projects) stageManifests(sources ecosystem.Sources) (files []ecosystem.StagedFile, inputs []string) {
	home := homeFiles(sources.Places().Registry + "/" + ecosystem.Packagist)
	shown := maps.Clone(p.manifests)
	for name, text := range home {
		shown[path.Join(composerHome, name)] = []byte(text)
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		files = append(files, ecosystem.StagedFile{Path: name, Text: shown[name]})
		inputs = append(inputs, name, sources.HashText(string(shown[name])))
	}
	return files, inputs
}

// runComposer adds a composer command in a folder to a step.
func (p projects) runComposer(step ecosystem.Step, dir, command string) ecosystem.Step {
	step.Dir = "."
	step.Command = "COMPOSER_HOME=$PWD/" + composerHome + " php -d default_socket_timeout=" +
		strconv.Itoa(ecosystem.ClientPatience) + " /usr/bin/composer " + command +
		" --working-dir=" + dir + " --no-interaction --no-progress --no-scripts"
	// Without COLUMNS, composer wraps messages at the terminal width.
	step.Env = map[string]string{"COLUMNS": "1000", "COMPOSER_CACHE_DIR": "/dev/null", "COMPANY_FILES_ONLY": "1",
		"COMPOSER_IGNORE_PLATFORM_REQ": ignoredPlatform}
	aliases := parseManifest(p.manifests[path.Join(dir, manifest)]).Extra.BranchAlias
	for _, branch := range slices.Sorted(maps.Keys(aliases)) {
		if alias := aliases[branch]; versionRE.MatchString(alias) {
			step.Env["COMPOSER_ROOT_VERSION"] = alias // composer cannot find it in the history, which is missing here
		}
	}
	return step
}

// listWants lists the packages that the manifests in a folder and below it require. A folder below may be a
// package of the project itself, so its requirements count.
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

// manifestFields lists the fields of a composer.json that affect the choice and use of packages. Scripts
// and repository addresses are left out.
var manifestFields = []string{
	"name", "type", "version", "require", "require-dev", "conflict", "replace", "provide", "minimum-stability",
	"prefer-stable", "autoload", "autoload-dev", "extra", "bin", "target-dir",
}

// folderRepository is a repository of a manifest. Its packages may be folders of the tree.
type folderRepository struct {
	Type    string          `json:"type"`
	URL     string          `json:"url"`
	Options json.RawMessage `json:"options,omitempty"`
}

// reduceManifest returns a manifest with only the relevant fields, the PHP platform settings, and its
// repositories in folders. Plugins are installed like other packages and are not loaded. allow-plugins must
// be set, because composer fails if a plugin is neither allowed nor forbidden. An invalid manifest is
// returned unchanged, because composer explains its error best.
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
	_ = json.Unmarshal(all["repositories"], &repositories) // other forms name no folder
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

// collector copies the vendor folders into a structure like that of the tree.
type collector struct {
	places ecosystem.Places
	dirs   []string
	made   []string // lock files that the repository does not have
	locks  map[string][]byte
}

// Place returns the place of a file in a vendor folder among the prepared dependencies. It keeps links to
// packages in other folders of the tree and leaves out links that lead out of the tree.
func (c collector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	for _, dir := range c.dirs {
		if vendor := path.Join(dir, "vendor"); entry.Path != vendor && !strings.HasPrefix(entry.Path, vendor+"/") {
			continue
		}
		to := ecosystem.Entry{Path: path.Join(c.places.Deps, "composer", entry.Path), Link: entry.Link}
		at := path.Join(path.Dir(entry.Path), entry.Link)
		return to, entry.Link == "" || !path.IsAbs(entry.Link) && at != ".." && !strings.HasPrefix(at, "../")
	}
	return entry, false
}

// Files returns the list of the folders, and the lock files that were generated for the task.
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
