package rust

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/safetext"
)

const maxManifests = 500 // most Cargo.toml files that are passed to cargo

// says describes cargo's errors.
var says = ecosystem.Words{
	Permanent: []string{"error: failed to parse", "error: no matching package", "error: failed to select a version",
		"error: checksum for", "--locked was passed"},
	Telling: []string{"error:"},
	Remedies: []ecosystem.Remedy{
		{Says: "--locked was passed", Fix: "run `cargo update --workspace` in your checkout and commit Cargo.lock"},
		{Says: "error: no matching package",
			Fix: "mend the name in Cargo.toml, run `cargo update --workspace` where there is a Cargo.lock, and commit what " +
				"changed"},
		{Says: "error: failed to select a version",
			Fix: "run `cargo update --workspace` in your checkout, which makes a lock file that fits, or says which version " +
				"there is not; commit both files"},
		{Says: "error: checksum for",
			Fix: "the registry has another file than Cargo.lock says: find out why, then regenerate Cargo.lock and commit it"},
	},
}

// Installs returns a layer with the crates that Cargo.lock files name, as a directory that cargo uses in
// place of its registry. Nothing is compiled. Of the project's sources, cargo sees only the file names,
// which it requires.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	install := ecosystem.Install{Layer: "cargo", Registry: ecosystem.Crates, Remote: true, Locks: map[string][]byte{},
		Says: says}
	dirs, err := lockedProjects(sources, install.Locks)
	if err != nil {
		return nil, err
	}
	files, err := readManifests(sources)
	if err != nil {
		return nil, err
	}
	noteOpen(sources, files)
	if len(dirs) == 0 {
		return nil, nil
	}
	dirs = ecosystem.LimitProjects(sources, dirs, "Cargo.lock files are prepared")
	maps.Copy(files, install.Locks)
	for _, name := range slices.Sorted(maps.Keys(install.Locks)) {
		if slices.Contains(dirs, path.Dir(name)) {
			install.Ahead = append(install.Ahead, Ecosystem{}.ListForAnySystem(install.Locks[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		install.Stage = append(install.Stage, ecosystem.StagedFile{Path: path.Join("src", name), Text: files[name]})
		install.Inputs = append(install.Inputs, name, sources.HashText(string(files[name])))
	}
	var made []string
	for _, dir := range dirs {
		if name := path.Join(dir, lockFile); !sources.Base().HasFile(name) {
			made = append(made, name)
			install.Inputs = append(install.Inputs, "made "+name)
		}
	}
	install.Stage = append(install.Stage, stageNames(sources, "src")...)
	install.Stage = append(install.Stage, stageHome(sources, "home"))
	more := ""
	for _, dir := range dirs[1:] {
		more += " --sync src/" + path.Join(dir, manifest)
	}
	install.What = ecosystem.LockPaths(dirs, lockFile)
	install.Why = "the crates of " + install.What
	install.Steps = []ecosystem.Step{{
		// CARGO_HOME is in memory because cargo writes to it.
		Dir: ".", Command: "cp -r home /tmp/cargo && cargo vendor -q --locked --versioned-dirs --respect-source-config " +
			"--manifest-path src/" + path.Join(dirs[0], manifest) + more + " crates >/dev/null",
		Env:      map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0"},
		Progress: "fetching the crates of " + install.What, Failure: "the crates of " + install.What + " cannot be fetched",
		Fix: "check that `cargo fetch --locked` works in your checkout; or go on without them, with container.deps: off: " +
			"what needs them stays red",
	}}
	install.Collector = func() ecosystem.Collector { return collector{sources.Places(), made, install.Locks} }
	return []ecosystem.Install{install}, nil
}

// stageNames returns the project's .rs files without their text. Cargo only checks which files exist.
func stageNames(s ecosystem.Sources, below string) (out []ecosystem.StagedFile) {
	for _, name := range s.Files() {
		if path.Ext(name) == ".rs" {
			out = append(out, ecosystem.StagedFile{Path: path.Join(below, name)})
		}
	}
	return out
}

// stageHome returns cargo's settings as a file in a folder that is later copied to CARGO_HOME.
func stageHome(sources ecosystem.Sources, dir string) ecosystem.StagedFile {
	return ecosystem.StagedFile{Path: dir + "/config.toml",
		Text: []byte("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+" +
			sources.Places().Registry + "/crates/\"\n")}
}

// lockedProjects returns the folders whose lock file names crates to fetch. It adds the texts of these lock
// files to texts.
func lockedProjects(sources ecosystem.Sources, texts map[string][]byte) (dirs []string, err error) {
	names := slices.DeleteFunc(sources.FilesNamed(lockFile), func(name string) bool {
		return !ecosystem.IsPlainPath(path.Dir(name)) || !sources.HasFile(path.Join(path.Dir(name), manifest))
	})
	all, err := sources.ReadTexts(names) // one limit for all, because all folders may hold the same text
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		dir, text := path.Dir(name), all[name]
		needs, git := namesCrates(text)
		if git != "" {
			noteGit(sources, name, git)
			continue
		}
		if !needs || hasVendoredCrates(sources, dir) {
			continue
		}
		dirs = append(dirs, dir)
		texts[name] = text
	}
	return dirs, nil
}

func noteGit(s ecosystem.Sources, file, crate string) {
	s.AddNote("%s names %s of a git repository, which is not fetched: its crates are not prepared (`cargo vendor` puts "+
		"them into the repository)", file, safetext.Cut(safetext.StripLine(crate), 60))
}

// readManifests reads the manifests that are passed to cargo, at most maxManifests.
func readManifests(sources ecosystem.Sources) (map[string][]byte, error) {
	all := sources.FilesNamed(manifest)
	return sources.ReadTexts(all[:min(len(all), maxManifests)])
}

// namesCrates reports whether a lock file names crates of a registry. git is the name of a crate from a git
// repository, or empty.
func namesCrates(text []byte) (needs bool, git string) {
	var lock struct {
		Package []struct{ Name, Source string }
	}
	if toml.Decode(text, &lock) != nil {
		return true, "" // cargo reports the parse error
	}
	for _, c := range lock.Package {
		needs = needs || c.Source != ""
		if strings.HasPrefix(c.Source, "git+") {
			git = c.Name
		}
	}
	return needs, git
}

// hasVendoredCrates reports whether a project vendors its crates. Cargo reads the settings of the project's
// folder and of the folders above.
func hasVendoredCrates(sources ecosystem.Sources, dir string) bool {
	for ; ; dir = path.Dir(dir) {
		for _, name := range []string{".cargo/config.toml", ".cargo/config"} {
			if name = path.Join(dir, name); sources.HasFile(name) {
				text, err := ecosystem.ReadText(sources, name)
				return err == nil && strings.Contains(string(text), "replace-with")
			}
		}
		if dir == "." {
			return false
		}
	}
}

// collector copies the crates and configures cargo to use the copies.
type collector struct {
	places ecosystem.Places
	made   []string // lock files that the repository does not have
	locks  map[string][]byte
}

// Place returns the place of a crate's file among the prepared dependencies. It leaves out links and other
// files.
func (c collector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	ok := strings.HasPrefix(entry.Path, "crates/") && entry.Link == ""
	return ecosystem.Entry{Path: path.Join(c.places.Deps, entry.Path)}, ok
}

// Files returns cargo's settings and the lock files that were generated for the task. The work tree gets
// these lock files, so that cargo does not generate others.
func (c collector) Files() []ecosystem.ImageFile {
	text := "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\ndirectory = \"" + c.places.Deps +
		"/crates\"\n[net]\noffline = true\n"
	out := []ecosystem.ImageFile{{Path: c.places.Deps + "/cargo.toml", Text: []byte(text)}}
	list := ""
	for _, name := range c.made {
		list += name + "\n"
		out = append(out, ecosystem.ImageFile{Path: path.Join(c.places.Deps, "cargo", name), Text: c.locks[name]})
	}
	if list != "" {
		out = append(out, ecosystem.ImageFile{Path: c.places.Deps + "/cargo.locks", Text: []byte(list)})
	}
	return out
}
