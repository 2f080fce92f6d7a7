package node

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Locked describes how a client installs the packages of its own lock files.
type Locked struct {
	Client   string // its name in messages
	LockFile string
	Layer    string // the kind of its layer
	Folder   string // the folder for its packages below the prepared dependencies
	Command  string
	// LockCommand creates a lock file. ToLock is the command with which a user does so.
	LockCommand, ToLock string
	Env                 map[string]string
	Says                ecosystem.Words
	Fix                 string // advice for users if it fails
	// Read returns the files that the client gets from a folder in addition to manifests, and the folder's
	// unchanged lock file.
	Read   func(s ecosystem.Sources, dir string) (shown map[string][]byte, lock []byte, err error)
	Locker ecosystem.Locker // reads the lock file
	// Redirect removes the addresses of registry files from a lock file, so that the client uses the mirror.
	// Only installations use the result, and a regenerated lock file keeps its addresses. A nil Redirect means
	// that Read has already done so.
	Redirect func(lock []byte) []byte
	// Covers reports whether the package of a folder belongs to the package of a folder above. A nil Covers
	// means that workspaces decide.
	Covers func(s ecosystem.Sources, top, dir string) bool
}

// FindLocked lists the folders of manifests that have a lock file. It adds notes for manifests without one
// and for folders with a second one.
func (l Locked) FindLocked(sources ecosystem.Sources, manifests []string, texts map[string][]byte) []string {
	dirs := l.listLocked(sources, manifests)
	for _, dir := range dirs {
		noteSecondLock(sources, dir, l.LockFile)
	}
	dirs = ecosystem.LimitProjects(sources, dirs, l.Client+" lock files are installed")
	noteUnlocked(sources, manifests, texts, dirs, l.findUnlocked(sources, manifests, texts, dirs), l.ToLock)
	return dirs
}

func (l Locked) listLocked(sources ecosystem.Sources, manifests []string) (dirs []string) {
	for _, m := range manifests {
		if dir := path.Dir(m); sources.HasFile(path.Join(dir, l.LockFile)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (l Locked) findUnlocked(
	sources ecosystem.Sources, manifests []string, texts map[string][]byte, locked []string,
) []string {
	covers := newWorkspaces(sources, texts).covers
	if l.Covers != nil {
		covers = func(top, dir string) bool { return l.Covers(sources, top, dir) }
	}
	return FindUnlocked(manifests, texts, locked, covers)
}

// Resolutions returns a run of the client for each manifest without a lock file.
func (l Locked) Resolutions(
	sources ecosystem.Sources, manifests []string, texts map[string][]byte, client ecosystem.Install,
) (out []ecosystem.Resolution, err error) {
	for _, dir := range l.findUnlocked(sources, manifests, texts, l.listLocked(sources, manifests)) {
		files, _, err := l.Read(sources, dir)
		if err != nil {
			return nil, err
		}
		resolution := NewResolution(sources, dir, l.LockFile, manifests, texts, files)
		resolution.Clients = []ecosystem.Install{client}
		resolution.Says = l.Says
		resolution.ToKeep = l.ToLock
		resolution.Step = ResolveStep(resolution, dir, l.LockCommand, l.Env)
		out = append(out, resolution)
	}
	return out, nil
}

// Relock returns the run of the client that regenerates a lock file. The client gets manifests with all
// fields, since clients repeat some of them in lock files. ok is false if the lock file or its manifest is
// missing.
func (l Locked) Relock(
	sources ecosystem.Sources, manifests []string, lock string, client ecosystem.Install,
) (resolution ecosystem.Resolution, ok bool, err error) {
	dir := path.Dir(lock)
	if !slices.Contains(manifests, path.Join(dir, "package.json")) || !sources.HasFile(lock) {
		return resolution, false, nil
	}
	files, _, err := l.Read(sources, dir)
	if err != nil {
		return resolution, false, err
	}
	texts, err := sources.ReadTexts(manifests)
	if err != nil {
		return resolution, false, err
	}
	resolution = NewResolution(sources, dir, l.LockFile, manifests, texts, files)
	resolution.Clients = []ecosystem.Install{client}
	resolution.Says = l.Says
	resolution.ToKeep = l.ToLock
	resolution.Restore = restoreAddresses(sources.Places())
	resolution.Step = RelockStep(resolution, dir, l.LockCommand, l.Env)
	return resolution, true, nil
}

// RelockStep returns the run of a client that regenerates a lock file.
func RelockStep(resolution ecosystem.Resolution, dir, command string, env map[string]string) ecosystem.Step {
	return ecosystem.Step{
		Dir: dir, Command: command, Env: env, Progress: "making " + resolution.Lock + " anew for a merge",
		Failure: resolution.Lock + " cannot be made anew by its client",
		Fix:     "run `" + resolution.ToKeep + "` in a checkout of both sides, and commit it",
	}
}

// restoreAddresses returns a function that replaces the mirror's addresses in a lock file by those of the
// merged sides. A package that neither side has gets the address in the public registry.
func restoreAddresses(places ecosystem.Places) func(made []byte, sides ...[]byte) []byte {
	mirror := regexp.MustCompile(regexp.QuoteMeta(places.Registry+"/npm/") + `([^"#\s]+/-/[^"#\s]+)`)
	return func(made []byte, sides ...[]byte) []byte {
		known := map[string]string{} // path below a registry → address
		for _, side := range sides {
			for _, address := range addressRE.FindAllStringSubmatch(string(side), -1) {
				if known[address[2]] == "" && !mirror.MatchString(address[0]) {
					known[address[2]] = address[1] + address[2]
				}
			}
		}
		return mirror.ReplaceAllFunc(made, func(found []byte) []byte {
			file := strings.TrimPrefix(string(found), places.Registry+"/npm/")
			if address := known[file]; address != "" {
				return []byte(address)
			}
			return []byte("https://registry.npmjs.org/" + file)
		})
	}
}

// addressRE matches the address of a package's file: the registry, and the path in it.
var addressRE = lazyregexp.New(`(https?://[^"#\s]*?/)((?:@[^"#/\s]+/)?[^"#/\s]+/-/[^"#\s]+)`)

// NewResolution returns a resolution for the dependencies in the manifests of a folder. The client also
// gets files.
func NewResolution(
	sources ecosystem.Sources, dir, lockFile string, manifests []string, texts, files map[string][]byte,
) ecosystem.Resolution {
	shown := map[string][]byte{}
	for _, m := range manifests {
		if ecosystem.IsWithin(path.Dir(m), dir) {
			shown[m] = texts[m]
		}
	}
	resolution := ecosystem.Resolution{Lock: path.Join(dir, lockFile), Manifest: path.Join(dir, "package.json"),
		Wants: ListWants(shown)}
	maps.Copy(shown, files)
	stage := NewStage(sources)
	stage.Add(shown)
	resolution.Stage = stage.Files()
	return resolution
}

// ResolveStep returns the run of a client for a resolution.
func ResolveStep(resolution ecosystem.Resolution, dir, command string, env map[string]string) ecosystem.Step {
	return ecosystem.Step{
		Dir: dir, Command: command, Env: env,
		Progress: "resolving the packages of " + resolution.Manifest + ", which has no lock file",
		Failure:  "the packages of " + resolution.Manifest + " cannot be resolved, and it has no lock file",
		Fix: "make one with `" + resolution.ToKeep +
			"` in your checkout, and commit it; or go on without them, with container.deps: off: what needs them stays red",
	}
}

// noteSecondLock adds a note if a folder also has a lock file of another client.
func noteSecondLock(sources ecosystem.Sources, dir, counts string) {
	for _, lock := range lockFiles {
		if other := path.Join(dir, lock.file); lock.file != counts && sources.HasFile(other) {
			sources.AddNote("%s counts, and %s beside it does not: delete the one that is not used, or name the client in "+
				"package.json, with packageManager", path.Join(dir, counts), lock.file)
			return
		}
	}
}

// PackagesLayer returns the layer with the packages that the lock files of these folders name.
func (l Locked) PackagesLayer(
	sources ecosystem.Sources, dirs, manifests []string, texts map[string][]byte,
) (ecosystem.Install, error) {
	install := ecosystem.Install{
		Layer: l.Layer, What: ecosystem.LockPaths(dirs, l.LockFile), Registry: ecosystem.NPM, Remote: true,
		Locks: map[string][]byte{}, Says: l.Says,
		Collector: func() ecosystem.Collector { return NewCollector(sources.Places(), l.Folder) },
	}
	install.Why = "the packages of " + install.What
	stage := NewStage(sources)
	for _, dir := range dirs {
		files, lock, err := l.Read(sources, dir)
		if err != nil {
			return install, err
		}
		name := path.Join(dir, l.LockFile)
		install.Locks[name] = lock
		if l.Redirect != nil && lock != nil {
			files[name] = l.Redirect(lock)
		}
		if all, ok := l.Locker.(ecosystem.AnySystemLister); ok {
			install.Ahead = append(install.Ahead, all.ListForAnySystem(lock)...)
		}
		for _, m := range manifests {
			if ecosystem.IsWithin(path.Dir(m), dir) {
				files[m] = texts[m]
			}
		}
		stage.Add(files)
		shown := ecosystem.LockPaths([]string{dir}, l.LockFile)
		install.Steps = append(install.Steps, ecosystem.Step{
			Dir: dir, Command: l.Command, Env: l.Env, Progress: "installing the " + l.Client + " packages of " + shown,
			Failure: "the " + l.Client + " packages of " + shown + " cannot be installed", Fix: l.Fix,
		})
	}
	install.Stage, install.Inputs = stage.Files(), stage.Inputs()
	AddScripts(sources, &install, NamesIn(install.Locks, l.Locker))
	return install, nil
}

// FilterSections returns a YAML file with only the sections in keep. A section begins with a key at the
// start of a line. Other forms of sections are left out.
func FilterSections(text []byte, keep []string) []byte {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		if first := strings.TrimRight(line, "\r\n"); first != "" && !strings.HasPrefix(first, " ") &&
			!strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "- ") {
			key, _, isKey := strings.Cut(first, ":")
			inside = isKey && slices.Contains(keep, strings.Trim(key, `'"`))
		}
		if inside {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}
