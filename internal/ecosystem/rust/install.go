package rust

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/safetext"
)

const maxManifests = 500 // Cargo.toml files that cargo is shown

// says is how cargo fails.
var says = ecosystem.Words{
	Permanent: []string{"error: failed to parse", "error: no matching package", "error: failed to select a version", "error: checksum for", "--locked was passed"},
	Telling:   []string{"error:"},
}

// Installs is a layer of the crates that Cargo.lock files name, as a directory
// that cargo takes for its registry. Nothing is compiled, and of the project's
// sources cargo sees the names alone, which it asks for.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	in := ecosystem.Install{Layer: "cargo", Registry: ecosystem.Crates, Remote: true, Locks: map[string][]byte{}, Says: says,
		Collector: func() ecosystem.Collector { return collector{s.Places()} }}
	files := map[string][]byte{}
	var dirs []string
	for _, name := range s.FilesNamed("Cargo.lock") {
		dir := path.Dir(name)
		if !ecosystem.IsPlainPath(dir) || !s.HasFile(path.Join(dir, "Cargo.toml")) {
			continue
		}
		text, err := ecosystem.ReadText(s, name)
		if err != nil {
			return nil, err
		}
		needs, git := namesCrates(text)
		if git != "" {
			s.AddNote("%s names %s of a git repository, which is not fetched: its crates are not prepared", name, safetext.Cut(safetext.StripLine(git), 60))
			continue
		}
		if !needs || hasVendoredCrates(s, dir) {
			continue
		}
		dirs = append(dirs, dir)
		files[name], in.Locks[name] = text, text
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	dirs = ecosystem.LimitProjects(s, dirs, "Cargo.lock files are prepared")
	manifests := s.FilesNamed("Cargo.toml")
	texts, err := s.ReadTexts(manifests[:min(len(manifests), maxManifests)])
	if err != nil {
		return nil, err
	}
	maps.Copy(files, texts)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		in.Stage = append(in.Stage, ecosystem.StagedFile{Path: path.Join("src", name), Text: files[name]})
		in.Inputs = append(in.Inputs, name, s.HashText(string(files[name])))
	}
	for _, name := range s.Files() {
		if path.Ext(name) == ".rs" {
			in.Stage = append(in.Stage, ecosystem.StagedFile{Path: path.Join("src", name)})
		}
	}
	in.Stage = append(in.Stage, ecosystem.StagedFile{Path: "home/config.toml", Text: []byte("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+" + s.Places().Registry + "/crates/\"\n")})
	more := ""
	for _, dir := range dirs[1:] {
		more += " --sync src/" + path.Join(dir, "Cargo.toml")
	}
	in.What = ecosystem.LockPaths(dirs, "Cargo.lock")
	in.Why = "the crates of " + in.What
	in.Steps = []ecosystem.Step{{
		// Cargo's home is in memory: it writes there.
		Dir: ".", Command: "cp -r home /tmp/cargo && cargo vendor -q --locked --versioned-dirs --respect-source-config --manifest-path src/" + path.Join(dirs[0], "Cargo.toml") + more + " crates >/dev/null",
		Env: map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "1"}, Progress: "fetching the crates of " + in.What, Failure: "the crates of " + in.What + " cannot be fetched",
		Fix: "check that `cargo fetch --locked` works in your checkout; or go on without them, with container.deps: off: what needs them stays red",
	}}
	return []ecosystem.Install{in}, nil
}

// namesCrates tells whether a lock file names crates of a registry, and a crate of
// a git repository if there is one.
func namesCrates(text []byte) (needs bool, git string) {
	var lock struct {
		Package []struct{ Name, Source string }
	}
	if ecosystem.ReadTOML(text, &lock) != nil {
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

// hasVendoredCrates tells whether a project carries its crates along.
func hasVendoredCrates(s ecosystem.Sources, dir string) bool {
	for _, name := range []string{".cargo/config.toml", ".cargo/config"} {
		if name = path.Join(dir, name); s.HasFile(name) {
			text, err := ecosystem.ReadText(s, name)
			return err == nil && strings.Contains(string(text), "replace-with")
		}
	}
	return false
}

// collector copies the crates, and makes cargo take them from there.
type collector struct{ places ecosystem.Places }

// Place puts the crates among the prepared dependencies.
func (c collector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	ok := strings.HasPrefix(e.Path, "crates/") && e.Link == ""
	return ecosystem.Entry{Path: path.Join(c.places.Deps, e.Path)}, ok
}

// Files are cargo's settings.
func (c collector) Files() []ecosystem.ImageFile {
	text := "[source.crates-io]\nreplace-with = \"company\"\n[source.company]\ndirectory = \"" + c.places.Deps + "/crates\"\n[net]\noffline = true\n"
	return []ecosystem.ImageFile{{Path: c.places.Deps + "/cargo.toml", Text: []byte(text)}}
}
