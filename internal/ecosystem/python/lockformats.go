package python

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var hashRE = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// lockedFile is a file of a package, as lock files name it.
type lockedFile struct {
	URL    string
	Hash   string
	Hashes map[string]string
}

// findDigest is sha256:…; empty: the file has none of that kind.
func (f lockedFile) findDigest() string {
	h := f.Hash
	if sum := f.Hashes["sha256"]; sum != "" {
		h = "sha256:" + sum
	}
	if !hashRE.MatchString(h) {
		return ""
	}
	return h
}

func (p *lockedPackage) addFiles(files ...lockedFile) {
	for _, f := range files {
		if h := f.findDigest(); h != "" && !slices.Contains(p.hashes, h) {
			p.hashes = append(p.hashes, h)
		}
	}
}

// readUVLock reads a uv.lock.
func readUVLock(text []byte, l *lockFile) error {
	type need struct {
		Name, Version, Marker string
		Extra                 []string
	}
	var lock struct {
		Package []struct {
			Name, Version string
			Source        map[string]any
			Dependencies  []need
			Optional      map[string][]need `toml:"optional-dependencies"`
			Sdist         lockedFile
			Wheels        []lockedFile
			Markers       []string `toml:"resolution-markers"`
		}
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return err
	}
	list := func(all []need) (out []requirement) {
		for _, n := range all {
			r := requirement{name: canonicalName(n.Name), marker: n.Marker, line: n.Name}
			if n.Version != "" {
				r.spec = "==" + n.Version
			}
			for _, e := range n.Extra {
				r.extras = append(r.extras, canonicalName(e))
			}
			out = append(out, r)
		}
		return out
	}
	for _, one := range lock.Package {
		p := &lockedPackage{name: one.Name, version: one.Version, needs: list(one.Dependencies), extras: map[string][]requirement{}}
		for extra, all := range one.Optional {
			p.extras[canonicalName(extra)] = list(all)
		}
		if len(one.Markers) > 0 {
			p.marker = "(" + strings.Join(one.Markers, ") or (") + ")"
		}
		p.addFiles(append(one.Wheels, one.Sdist)...)
		p.readSource(one.Source)
		l.addPackage(p)
	}
	return nil
}

// readSource reads where a package of uv's comes from.
func (p *lockedPackage) readSource(source map[string]any) {
	for _, key := range []string{"editable", "virtual", "directory"} {
		if folder, ok := source[key].(string); ok {
			p.folder = path.Clean(folder)
		}
	}
	for _, key := range []string{"git", "url", "path"} {
		if _, ok := source[key].(string); ok {
			p.elsewhere = key
		}
	}
}

// readPoetryLock reads a poetry.lock.
func readPoetryLock(text []byte, l *lockFile) error {
	var lock struct {
		Package []struct {
			Name, Version string
			Python        string `toml:"python-versions"`
			Markers       any
			Dependencies  map[string]any
			Extras        map[string][]string
			Files         []lockedFile
			Source        struct{ Type, URL string }
		}
		Metadata struct{ Files map[string][]lockedFile }
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return err
	}
	for _, one := range lock.Package {
		p := &lockedPackage{name: one.Name, version: one.Version, python: one.Python, extras: map[string][]requirement{}}
		p.marker, _ = one.Markers.(string) // a table of groups says the same for each
		p.addFiles(append(one.Files, lock.Metadata.Files[one.Name]...)...)
		lines, _ := poetryLines(one.Dependencies, func(string) bool { return false })
		p.needs = parseAll(lines)
		for extra, lines := range one.Extras {
			p.extras[canonicalName(extra)] = parseAll(lines)
		}
		switch one.Source.Type {
		case "directory":
			p.folder = path.Clean(one.Source.URL)
		case "git", "url", "file":
			p.elsewhere = one.Source.Type
		}
		l.addPackage(p)
	}
	return nil
}

func parseAll(lines []string) (out []requirement) {
	for _, line := range lines {
		if r, ok := parseRequirement(line); ok {
			out = append(out, r)
		}
	}
	return out
}

// readPDMLock reads a pdm.lock. A package with extras is an entry of its own.
func readPDMLock(text []byte, l *lockFile) error {
	var lock struct {
		Package []struct {
			Name, Version string
			Python        string `toml:"requires_python"`
			Marker        string
			Extras        []string
			Dependencies  []string
			Files         []lockedFile
			Path, Git     string
			URL           string
		}
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return err
	}
	for _, one := range lock.Package {
		if len(one.Extras) > 0 {
			continue
		}
		p := &lockedPackage{name: one.Name, version: one.Version, python: one.Python, marker: one.Marker, needs: parseAll(one.Dependencies), extras: map[string][]requirement{}}
		p.addFiles(one.Files...)
		switch {
		case one.Path != "":
			p.folder = path.Clean(one.Path)
		case one.Git != "" || one.URL != "":
			p.elsewhere = firstText(one.Git, one.URL)
		}
		l.addPackage(p)
	}
	for _, one := range lock.Package {
		for _, p := range l.packages[canonicalName(one.Name)] {
			for _, extra := range one.Extras {
				if p.version == one.Version || one.Version == "" {
					p.extras[canonicalName(extra)] = append(p.extras[canonicalName(extra)], parseAll(one.Dependencies)...)
				}
			}
		}
	}
	return nil
}

// readPylock reads a pylock.toml (PEP 751): its markers say all.
func readPylock(text []byte, l *lockFile) error {
	var lock struct {
		Packages []struct {
			Name, Version, Marker string
			Sdist                 lockedFile
			Wheels                []lockedFile
			Directory             struct{ Path string }
			VCS, Archive          map[string]any
		}
	}
	if err := toml.DecodeOneSpelling(text, &lock); err != nil {
		return err
	}
	l.isWhole = true
	for _, one := range lock.Packages {
		p := &lockedPackage{name: one.Name, version: one.Version, marker: one.Marker}
		p.addFiles(append(one.Wheels, one.Sdist)...)
		switch {
		case one.Directory.Path != "":
			p.folder = path.Clean(one.Directory.Path)
		case one.VCS != nil || one.Archive != nil:
			p.elsewhere = "an address"
		}
		l.addPackage(p)
	}
	return nil
}

// readPipenvLock reads a Pipfile.lock.
func readPipenvLock(text []byte, l *lockFile) error {
	var lock map[string]json.RawMessage
	if json.Unmarshal(text, &lock) != nil {
		return errors.New("it is no JSON")
	}
	l.isWhole = true
	for _, group := range []string{"default", "develop"} {
		all := ecosystem.FieldsOf(lock[group])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			one := ecosystem.FieldsOf(all[name])
			text := func(key string) string { return ecosystem.TextOf(one[key]) }
			p := &lockedPackage{name: name, version: strings.TrimPrefix(text("version"), "=="), marker: text("markers"), elsewhere: firstText(text("git"), text("file"))}
			if at := text("path"); at != "" {
				p.folder = path.Clean(at)
			}
			var hashes []string
			_ = json.Unmarshal(one["hashes"], &hashes) // others count for nothing
			for _, h := range hashes {
				p.addFiles(lockedFile{Hash: h})
			}
			l.addPackage(p)
		}
	}
	return nil
}
