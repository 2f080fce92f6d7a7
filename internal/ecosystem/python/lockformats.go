package python

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

var hashRE = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// lockedFile is a file of a package in a lock file.
type lockedFile struct {
	URL    string
	Path   string // uv: in an index that is a folder; also pylock.toml
	Hash   string
	Hashes map[string]string
}

// findDigest returns the file's SHA-256 digest as sha256:…, or an empty string.
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

// formatDigests returns all digests of a file as one text. A registry has one digest for a file, but a
// client may compare another one.
func (f lockedFile) formatDigests() string {
	var all []string
	if f.Hash != "" {
		all = append(all, f.Hash)
	}
	for _, algorithm := range slices.Sorted(maps.Keys(f.Hashes)) {
		all = append(all, algorithm+":"+f.Hashes[algorithm])
	}
	return strings.Join(all, " ")
}

// listFileDigests returns the SHA-256 digests of files without duplicates.
func listFileDigests(files ...lockedFile) (digests []string) {
	for _, f := range files {
		if digest := f.findDigest(); digest != "" {
			digests = append(digests, digest)
		}
	}
	return uniqueStrings(digests)
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
	list := func(needs []need) (out []requirement) {
		for _, n := range needs {
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
		pkg := &lockedPackage{name: one.Name, version: one.Version, needs: list(one.Dependencies),
			extras: map[string][]requirement{}}
		for extra, needs := range one.Optional {
			pkg.extras[canonicalName(extra)] = list(needs)
		}
		if len(one.Markers) > 0 {
			pkg.marker = "(" + strings.Join(one.Markers, ") or (") + ")"
		}
		pkg.hashes = listFileDigests(append(one.Wheels, one.Sdist)...)
		pkg.readSource(one.Source)
		l.addPackage(pkg)
	}
	return nil
}

// readSource reads the source of a package in a uv.lock.
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
	shared := map[string][]string{} // digests that all versions of a package share
	for _, one := range lock.Package {
		pkg := &lockedPackage{name: one.Name, version: one.Version, python: one.Python, extras: map[string][]requirement{}}
		pkg.marker, _ = one.Markers.(string) // a table by groups has the same marker for each
		pkg.hashes = listFileDigests(one.Files...)
		if files := lock.Metadata.Files[one.Name]; len(files) > 0 && len(pkg.hashes) == 0 { // an older form of the file
			if _, isRead := shared[one.Name]; !isRead {
				shared[one.Name] = listFileDigests(files...)
			}
			pkg.hashes = shared[one.Name]
		}
		lines, _ := poetryLines(one.Dependencies, func(string) bool { return false })
		pkg.needs = parseAll(lines)
		for extra, lines := range one.Extras {
			pkg.extras[canonicalName(extra)] = parseAll(lines)
		}
		switch one.Source.Type {
		case "directory":
			pkg.folder = path.Clean(one.Source.URL)
		case "git", "url", "file":
			pkg.elsewhere = one.Source.Type
		}
		l.addPackage(pkg)
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

// readPDMLock reads a pdm.lock. A package with extras is a separate entry.
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
		pkg := &lockedPackage{name: one.Name, version: one.Version, python: one.Python, marker: one.Marker,
			needs: parseAll(one.Dependencies), extras: map[string][]requirement{}}
		pkg.hashes = listFileDigests(one.Files...)
		switch {
		case one.Path != "":
			pkg.folder = path.Clean(one.Path)
		case one.Git != "" || one.URL != "":
			pkg.elsewhere = firstText(one.Git, one.URL)
		}
		l.addPackage(pkg)
	}
	for _, one := range lock.Package {
		for _, pkg := range l.packages[canonicalName(one.Name)] {
			for _, extra := range one.Extras {
				if pkg.version == one.Version || one.Version == "" {
					pkg.extras[canonicalName(extra)] = append(pkg.extras[canonicalName(extra)], parseAll(one.Dependencies)...)
				}
			}
		}
	}
	return nil
}

// readPylock reads a pylock.toml (PEP 751). Its markers decide which packages are installed.
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
		pkg := &lockedPackage{name: one.Name, version: one.Version, marker: one.Marker}
		pkg.hashes = listFileDigests(append(one.Wheels, one.Sdist)...)
		switch {
		case one.Directory.Path != "":
			pkg.folder = path.Clean(one.Directory.Path)
		case one.VCS != nil || one.Archive != nil:
			pkg.elsewhere = "an address"
		}
		l.addPackage(pkg)
	}
	return nil
}

// readPipenvLock reads a Pipfile.lock.
func readPipenvLock(text []byte, l *lockFile) error {
	var lock map[string]json.RawMessage
	if json.Unmarshal(text, &lock) != nil {
		return errors.New("it is not JSON")
	}
	l.isWhole = true
	for _, group := range []string{"default", "develop"} {
		all := ecosystem.FieldsOf(lock[group])
		for _, name := range slices.Sorted(maps.Keys(all)) {
			one := ecosystem.FieldsOf(all[name])
			text := func(key string) string { return ecosystem.TextOf(one[key]) }
			pkg := &lockedPackage{name: name, version: strings.TrimPrefix(text("version"), "=="), marker: text("markers"),
				elsewhere: firstText(text("git"), text("file"))}
			if at := text("path"); at != "" {
				pkg.folder = path.Clean(at)
			}
			var hashes []string
			_ = json.Unmarshal(one["hashes"], &hashes) // values of other types are ignored
			pkg.hashes = uniqueStrings(slices.DeleteFunc(hashes, func(sum string) bool { return !hashRE.MatchString(sum) }))
			l.addPackage(pkg)
		}
	}
	return nil
}
