package node

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Locked is how a client installs what lock files of its own name.
type Locked struct {
	Client   string // its name, for people
	LockFile string
	Layer    string // kind of the layer
	Folder   string // of the prepared dependencies
	Command  string
	// LockCommand makes a lock file, and ToLock does for a person.
	LockCommand, ToLock string
	Env                 map[string]string
	Says                ecosystem.Words
	Fix                 string // where it fails
	// Read gives what the client is shown of a folder beside manifests, and the text of
	// its lock file as the tree has it.
	Read   func(s ecosystem.Sources, dir string) (shown map[string][]byte, lock []byte, err error)
	Locker ecosystem.Locker // reads the lock file
	// Redirect takes the addresses of registries' files out of a lock file, so that the client
	// asks the mirror. Installations alone are shown the result: a lock file that is made anew
	// keeps its addresses. Nil: Read has redirected it.
	Redirect func(lock []byte) []byte
	// Covers says whether the package of a folder belongs to that of one above; nil: as
	// its workspaces say.
	Covers func(s ecosystem.Sources, top, dir string) bool
}

// FindLocked lists the folders of manifests that have a lock file. That others have
// none, or a second one, is noted.
func (l Locked) FindLocked(s ecosystem.Sources, manifests []string, texts map[string][]byte) []string {
	dirs := l.listLocked(s, manifests)
	for _, dir := range dirs {
		noteSecondLock(s, dir, l.LockFile)
	}
	dirs = ecosystem.LimitProjects(s, dirs, l.Client+" lock files are installed")
	noteUnlocked(s, manifests, texts, dirs, l.findUnlocked(s, manifests, texts, dirs), l.ToLock)
	return dirs
}

func (l Locked) listLocked(s ecosystem.Sources, manifests []string) (dirs []string) {
	for _, m := range manifests {
		if dir := path.Dir(m); s.HasFile(path.Join(dir, l.LockFile)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func (l Locked) findUnlocked(s ecosystem.Sources, manifests []string, texts map[string][]byte, locked []string) []string {
	covers := newWorkspaces(s, texts).covers
	if l.Covers != nil {
		covers = func(top, dir string) bool { return l.Covers(s, top, dir) }
	}
	return FindUnlocked(manifests, texts, locked, covers)
}

// Resolutions are runs of the client for the manifests that no lock file is for.
func (l Locked) Resolutions(s ecosystem.Sources, manifests []string, texts map[string][]byte, client ecosystem.Install) (out []ecosystem.Resolution, err error) {
	for _, dir := range l.findUnlocked(s, manifests, texts, l.listLocked(s, manifests)) {
		files, _, err := l.Read(s, dir)
		if err != nil {
			return nil, err
		}
		r := NewResolution(s, dir, l.LockFile, manifests, texts, files)
		r.Clients, r.Says, r.ToKeep = []ecosystem.Install{client}, l.Says, l.ToLock
		r.Step = ResolveStep(r, dir, l.LockCommand, l.Env)
		out = append(out, r)
	}
	return out, nil
}

// Relock is the run of the client for a lock file of a tree, beside manifests with all
// their fields: clients repeat some of them.
func (l Locked) Relock(s ecosystem.Sources, manifests []string, lock string, client ecosystem.Install) (r ecosystem.Resolution, ok bool, err error) {
	dir := path.Dir(lock)
	if !slices.Contains(manifests, path.Join(dir, "package.json")) || !s.HasFile(lock) {
		return r, false, nil
	}
	files, _, err := l.Read(s, dir)
	if err != nil {
		return r, false, err
	}
	texts, err := s.ReadTexts(manifests)
	if err != nil {
		return r, false, err
	}
	r = NewResolution(s, dir, l.LockFile, manifests, texts, files)
	r.Clients, r.Says, r.ToKeep, r.Restore = []ecosystem.Install{client}, l.Says, l.ToLock, restoreAddresses(s.Places())
	r.Step = RelockStep(r, dir, l.LockCommand, l.Env)
	return r, true, nil
}

// RelockStep is the run of a client that makes a lock file anew.
func RelockStep(r ecosystem.Resolution, dir, command string, env map[string]string) ecosystem.Step {
	return ecosystem.Step{
		Dir: dir, Command: command, Env: env, Progress: "making " + r.Lock + " anew for a merge",
		Failure: r.Lock + " cannot be made anew by its client", Fix: "run `" + r.ToKeep + "` in a checkout of both sides, and commit it",
	}
}

// restoreAddresses gives a lock file the addresses of packages that its sides have, in
// place of those of a mirror. A package that neither side has gets the public registry's.
func restoreAddresses(p ecosystem.Places) func(made []byte, sides ...[]byte) []byte {
	mirror := regexp.MustCompile(regexp.QuoteMeta(p.Registry+"/npm/") + `([^"#\s]+/-/[^"#\s]+)`)
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
			file := strings.TrimPrefix(string(found), p.Registry+"/npm/")
			if address := known[file]; address != "" {
				return []byte(address)
			}
			return []byte("https://registry.npmjs.org/" + file)
		})
	}
}

// addressRE is the address of a package's file at a registry: that one, and the path.
var addressRE = lazyregexp.New(`(https?://[^"#\s]*?/)((?:@[^"#/\s]+/)?[^"#/\s]+/-/[^"#\s]+)`)

// NewResolution is a resolution of what the manifests of a folder ask for. files are
// shown to the client beside them.
func NewResolution(s ecosystem.Sources, dir, lockFile string, manifests []string, texts, files map[string][]byte) ecosystem.Resolution {
	shown := map[string][]byte{}
	for _, m := range manifests {
		if ecosystem.IsWithin(path.Dir(m), dir) {
			shown[m] = texts[m]
		}
	}
	r := ecosystem.Resolution{Lock: path.Join(dir, lockFile), Manifest: path.Join(dir, "package.json"), Wants: ListWants(shown)}
	maps.Copy(shown, files)
	stage := NewStage(s)
	stage.Add(shown)
	r.Stage = stage.Files()
	return r
}

// ResolveStep is the run of a client for a resolution.
func ResolveStep(r ecosystem.Resolution, dir, command string, env map[string]string) ecosystem.Step {
	return ecosystem.Step{
		Dir: dir, Command: command, Env: env, Progress: "resolving the packages of " + r.Manifest + ", which has no lock file",
		Failure: "the packages of " + r.Manifest + " cannot be resolved, and it has no lock file",
		Fix:     "make one with `" + r.ToKeep + "` in your checkout, and commit it; or go on without them, with container.deps: off: what needs them stays red",
	}
}

// noteSecondLock notes lock files of other clients beside the one that counts.
func noteSecondLock(s ecosystem.Sources, dir, counts string) {
	for _, lock := range lockFiles {
		if other := path.Join(dir, lock.file); lock.file != counts && s.HasFile(other) {
			s.AddNote("%s counts, and %s beside it does not: delete the one that is not used, or name the client in package.json, with packageManager", path.Join(dir, counts), lock.file)
			return
		}
	}
}

// PackagesLayer is what the lock files of these folders name.
func (l Locked) PackagesLayer(s ecosystem.Sources, dirs, manifests []string, texts map[string][]byte) (ecosystem.Install, error) {
	in := ecosystem.Install{
		Layer: l.Layer, What: ecosystem.LockPaths(dirs, l.LockFile), Registry: ecosystem.NPM, Remote: true, Locks: map[string][]byte{}, Says: l.Says,
		Collector: func() ecosystem.Collector { return NewCollector(s.Places(), l.Folder) },
	}
	in.Why = "the packages of " + in.What
	stage := NewStage(s)
	for _, dir := range dirs {
		files, lock, err := l.Read(s, dir)
		if err != nil {
			return in, err
		}
		name := path.Join(dir, l.LockFile)
		in.Locks[name] = lock
		if l.Redirect != nil && lock != nil {
			files[name] = l.Redirect(lock)
		}
		if all, ok := l.Locker.(ecosystem.AnySystemLister); ok {
			in.Ahead = append(in.Ahead, all.ListForAnySystem(lock)...)
		}
		for _, m := range manifests {
			if ecosystem.IsWithin(path.Dir(m), dir) {
				files[m] = texts[m]
			}
		}
		stage.Add(files)
		shown := ecosystem.LockPaths([]string{dir}, l.LockFile)
		in.Steps = append(in.Steps, ecosystem.Step{
			Dir: dir, Command: l.Command, Env: l.Env, Progress: "installing the " + l.Client + " packages of " + shown,
			Failure: "the " + l.Client + " packages of " + shown + " cannot be installed", Fix: l.Fix,
		})
	}
	in.Stage, in.Inputs = stage.Files(), stage.Inputs()
	AddScripts(s, &in, NamesIn(in.Locks, l.Locker))
	return in, nil
}

// FilterSections keeps the sections of a YAML file that count. A section
// begins with a key at the start of a line; other forms are left
// out.
func FilterSections(text []byte, keep []string) []byte {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		if first := strings.TrimRight(line, "\r\n"); first != "" && !strings.HasPrefix(first, " ") && !strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "- ") {
			key, _, isKey := strings.Cut(first, ":")
			inside = isKey && slices.Contains(keep, strings.Trim(key, `'"`))
		}
		if inside {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}
