package rust

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/ecosystem"
	"company/internal/safetext"
)

const maxManifests = 500 // Cargo.toml files that cargo is shown

// says is how cargo fails.
var says = ecosystem.Words{
	Permanent: []string{"error: failed to parse", "error: no matching package", "error: failed to select a version", "error: checksum for", "--locked was passed"},
	Telling:   []string{"error:"},
	Remedies: []ecosystem.Remedy{
		{Says: "--locked was passed", Fix: "run `cargo update --workspace` in your checkout and commit Cargo.lock"},
		{Says: "error: no matching package", Fix: "mend the name in Cargo.toml, run `cargo update --workspace` where there is a Cargo.lock, and commit what changed"},
		{Says: "error: failed to select a version", Fix: "run `cargo update --workspace` in your checkout, which makes a lock file that fits, or says which version there is not; commit both files"},
		{Says: "error: checksum for", Fix: "the registry has another file than Cargo.lock says: find out why, then make Cargo.lock anew and commit it"},
	},
}

// Installs is a layer of the crates that Cargo.lock files name, as a directory
// that cargo takes for its registry. Nothing is compiled, and of the project's
// sources cargo sees the names alone, which it asks for.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	in := ecosystem.Install{Layer: "cargo", Registry: ecosystem.Crates, Remote: true, Locks: map[string][]byte{}, Says: says}
	dirs, err := lockedProjects(s, in.Locks)
	if err != nil {
		return nil, err
	}
	files, err := readManifests(s)
	if err != nil {
		return nil, err
	}
	noteOpen(s, files)
	if len(dirs) == 0 {
		return nil, nil
	}
	dirs = ecosystem.LimitProjects(s, dirs, "Cargo.lock files are prepared")
	maps.Copy(files, in.Locks)
	for _, name := range slices.Sorted(maps.Keys(in.Locks)) {
		if slices.Contains(dirs, path.Dir(name)) {
			in.Ahead = append(in.Ahead, Ecosystem{}.ListForAnySystem(in.Locks[name])...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		in.Stage = append(in.Stage, ecosystem.StagedFile{Path: path.Join("src", name), Text: files[name]})
		in.Inputs = append(in.Inputs, name, s.HashText(string(files[name])))
	}
	var made []string
	for _, dir := range dirs {
		if name := path.Join(dir, lockFile); !s.Base().HasFile(name) {
			made = append(made, name)
			in.Inputs = append(in.Inputs, "made "+name)
		}
	}
	in.Stage = append(in.Stage, stageNames(s, "src")...)
	in.Stage = append(in.Stage, stageHome(s, "home"))
	more := ""
	for _, dir := range dirs[1:] {
		more += " --sync src/" + path.Join(dir, manifest)
	}
	in.What = ecosystem.LockPaths(dirs, lockFile)
	in.Why = "the crates of " + in.What
	in.Steps = []ecosystem.Step{{
		// Cargo's home is in memory: it writes there.
		Dir: ".", Command: "cp -r home /tmp/cargo && cargo vendor -q --locked --versioned-dirs --respect-source-config --manifest-path src/" + path.Join(dirs[0], manifest) + more + " crates >/dev/null",
		Env: map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0"}, Progress: "fetching the crates of " + in.What, Failure: "the crates of " + in.What + " cannot be fetched",
		Fix: "check that `cargo fetch --locked` works in your checkout; or go on without them, with container.deps: off: what needs them stays red",
	}}
	in.Collector = func() ecosystem.Collector { return collector{s.Places(), made, in.Locks} }
	return []ecosystem.Install{in}, nil
}

// stageNames are the project's sources, without their text: cargo asks which there are.
func stageNames(s ecosystem.Sources, below string) (out []ecosystem.StagedFile) {
	for _, name := range s.Files() {
		if path.Ext(name) == ".rs" {
			out = append(out, ecosystem.StagedFile{Path: path.Join(below, name)})
		}
	}
	return out
}

// stageHome are cargo's settings, in a folder that becomes its home.
func stageHome(s ecosystem.Sources, dir string) ecosystem.StagedFile {
	return ecosystem.StagedFile{Path: dir + "/config.toml", Text: []byte("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+" + s.Places().Registry + "/crates/\"\n")}
}

// lockedProjects are the folders with a lock file of crates that are to be fetched;
// texts gets the lock files.
func lockedProjects(s ecosystem.Sources, texts map[string][]byte) (dirs []string, err error) {
	names := slices.DeleteFunc(s.FilesNamed(lockFile), func(name string) bool {
		return !ecosystem.IsPlainPath(path.Dir(name)) || !s.HasFile(path.Join(path.Dir(name), manifest))
	})
	all, err := s.ReadTexts(names) // bounded together: one text may lie in all folders
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		dir, text := path.Dir(name), all[name]
		needs, git := namesCrates(text)
		if git != "" {
			noteGit(s, name, git)
			continue
		}
		if !needs || hasVendoredCrates(s, dir) {
			continue
		}
		dirs = append(dirs, dir)
		texts[name] = text
	}
	return dirs, nil
}

func noteGit(s ecosystem.Sources, file, crate string) {
	s.AddNote("%s names %s of a git repository, which is not fetched: its crates are not prepared (`cargo vendor` puts them into the repository)", file, safetext.Cut(safetext.StripLine(crate), 60))
}

// readManifests are the manifests that cargo is shown.
func readManifests(s ecosystem.Sources) (map[string][]byte, error) {
	all := s.FilesNamed(manifest)
	return s.ReadTexts(all[:min(len(all), maxManifests)])
}

// namesCrates tells whether a lock file names crates of a registry, and a crate of
// a git repository if there is one.
func namesCrates(text []byte) (needs bool, git string) {
	var lock struct {
		Package []struct{ Name, Source string }
	}
	if toml.Decode(text, &lock) != nil {
		return true, "" // cargo reports its fault
	}
	for _, c := range lock.Package {
		needs = needs || c.Source != ""
		if strings.HasPrefix(c.Source, "git+") {
			git = c.Name
		}
	}
	return needs, git
}

// hasVendoredCrates tells whether a project carries its crates along: cargo reads
// the settings of its folder and of those above.
func hasVendoredCrates(s ecosystem.Sources, dir string) bool {
	for ; ; dir = path.Dir(dir) {
		for _, name := range []string{".cargo/config.toml", ".cargo/config"} {
			if name = path.Join(dir, name); s.HasFile(name) {
				text, err := ecosystem.ReadText(s, name)
				return err == nil && strings.Contains(string(text), "replace-with")
			}
		}
		if dir == "." {
			return false
		}
	}
}

// collector copies the crates, and makes cargo take them from there.
type collector struct {
	places ecosystem.Places
	made   []string // lock files that the repository does not have
	locks  map[string][]byte
}

// Place puts the crates among the prepared dependencies.
func (c collector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	ok := strings.HasPrefix(e.Path, "crates/") && e.Link == ""
	return ecosystem.Entry{Path: path.Join(c.places.Deps, e.Path)}, ok
}

// Files are cargo's settings, and the lock files that were made for the task: a tree
// gets them, so that cargo makes no other.
func (c collector) Files() []ecosystem.ImageFile {
	text := "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\ndirectory = \"" + c.places.Deps + "/crates\"\n[net]\noffline = true\n"
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
