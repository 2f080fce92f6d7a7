package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

var _ ecosystem.FormChecker = Ecosystem{}

// IsWritten reports whether the file is npm's lock file.
func (e Ecosystem) IsWritten(file string) bool { return e.IsLockFile(file) }

// lockFields lists the fields at the top of a lock file, including those of npm 5.
var lockFields = []string{"name", "version", "lockfileVersion", "requires", "packages", "dependencies",
	"packageIntegrity", "preserveSymlinks"}

// oldFields lists the fields of an entry in a list of the first lock file version.
var oldFields = []string{
	"version", "resolved", "integrity", "from", "requires", "dependencies", "bundled", "dev", "optional", "devOptional",
	"peer", "extraneous",
	"inBundle", "hasInstallScript",
}

// entryFields lists the fields that npm writes for a package
// (https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json).
var entryFields = []string{
	"name", "version", "resolved", "integrity", "link", "dev", "optional", "devOptional", "peer", "extraneous", "inBundle",
	"hasInstallScript", "hasShrinkwrap", "ideallyInert",
	"bin", "license", "funding", "engines", "os", "cpu", "libc", "deprecated", "workspaces", "dependencies",
	"devDependencies", "optionalDependencies", "peerDependencies",
	"peerDependenciesMeta", "acceptDependencies", "bundleDependencies", "bundledDependencies",
}

// CheckForm returns an error if a lock file of npm is ambiguous.
func (Ecosystem) CheckForm(_ string, text []byte) error {
	var lock, packages map[string]json.RawMessage
	if ecosystem.HasMergeMarks(text) { // npm removes lines with merge marks, even inside a JSON string
		return errors.New("it has conflict markers, such as <<<<<<<: remove them and run `npm install --package-lock-only`")
	}
	if err := ecosystem.CheckJSON(text); err != nil {
		return err
	}
	if json.Unmarshal(text, &lock) != nil {
		return errors.New("it is not a JSON object")
	}
	if err := checkFields(lock, lockFields); err != nil {
		return err
	}
	if raw, has := lock["packages"]; has && json.Unmarshal(raw, &packages) != nil || has && packages == nil {
		return errors.New("its packages are not an object")
	}
	for where, raw := range packages {
		if !isPlace(where) {
			return fmt.Errorf("the entry %q is not a folder in npm's form", where)
		}
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) != nil {
			return fmt.Errorf("the entry %q is not an object", where)
		}
		if err := checkFields(f, entryFields); err != nil { // npm would run scripts
			return fmt.Errorf("the entry %q: %w", where, err)
		}
		if bin := new(map[string]string); f["bin"] != nil && json.Unmarshal(f["bin"], bin) != nil {
			return fmt.Errorf("the entry %q: its programs are not a list", where)
		}
		for _, name := range []string{"name", "version", "resolved", "integrity"} {
			if s := new(string); f[name] != nil && json.Unmarshal(f[name], &s) != nil {
				return fmt.Errorf("the entry %q: its %s is not a string", where, name)
			}
		}
		if link := f["link"]; link != nil && string(link) != "true" && string(link) != "false" {
			return fmt.Errorf("the entry %q: its link is neither true nor false", where)
		}
	}
	all := readPackages(text)
	return oldList{all, listPlaces(all)}.check("", lock["dependencies"], 0)
}

// isPlace reports whether the key of an entry is a clean path that leads to the same folder on every
// system. The folder is that of a package or a part of the tree.
func isPlace(where string) bool {
	if where == "" {
		return true
	}
	isClean := where != "." && path.Clean(where) == where && !path.IsAbs(where)
	if strings.Contains(where, "\\") || !isClean || path.Base(where) == "node_modules" {
		return false
	}
	for part := range strings.SplitSeq(where, "/") {
		isOdd := part == ".." && !isFolder(where)
		if isOdd || strings.EqualFold(part, "node_modules") && part != "node_modules" {
			return false
		}
	}
	return true
}

// oldList holds the entries of the newer list, to compare the list of a lock file of the first version with
// them.
type oldList struct {
	packages map[string]lockedPackage
	places   map[need]bool
}

// check returns an error if the list is ambiguous or names a different package than the newer one. npm up
// to version 6 uses this list.
func (l oldList) check(in string, list json.RawMessage, depth int) error {
	if list == nil {
		return nil
	}
	var entries map[string]map[string]json.RawMessage
	if json.Unmarshal(list, &entries) != nil || depth > maxNesting {
		return fmt.Errorf("the dependencies of %q are not a list", in)
	}
	for name, f := range entries {
		where := in + "node_modules/" + name
		if err := checkFields(f, oldFields); err != nil {
			return fmt.Errorf("the dependency %q: %w", where, err)
		}
		text := map[string]string{}
		for _, field := range []string{"version", "resolved", "integrity", "from"} {
			var s string
			if f[field] != nil && json.Unmarshal(f[field], &s) != nil || strings.Contains(name, "\\") {
				return fmt.Errorf("the dependency %q is not in npm's form", where)
			}
			text[field] = s
		}
		if text["from"] != "" && !strings.Contains(text["version"], ":") { // npm may use it
			return fmt.Errorf("the dependency %q is from %q", where, text["from"])
		}
		pkg, isThere := l.packages[where]
		isSame := slices.Contains([]string{pkg.Version, pkg.Resolved, "npm:" + pkg.Name + "@" + pkg.Version},
			text["version"]) ||
			pkg.Resolved == strings.TrimSpace(text["version"]+" "+text["from"]) ||
			pkg.Link && text["version"] == "file:"+pkg.Resolved
		if !isThere || !isSame || text["resolved"] != "" && text["resolved"] != pkg.Resolved ||
			text["integrity"] != "" && text["integrity"] != pkg.Integrity {
			return fmt.Errorf("the dependency %q differs from the entry of its packages", where)
		}
		needs := pkg.Needs
		if pkg.Link { // the dependencies of the folder
			needs = l.packages[pkg.Resolved].Needs
		}
		for _, need := range appendNeeds(nil, f["requires"]) {
			if isOdd := !pkg.IsOld && !need.isRange(); isOdd && !slices.Contains(needs, need) && !l.places[need.cutVersion()] {
				return fmt.Errorf("the dependency %q asks for %s, but the entry of its packages does not", where, need.name)
			}
		}
		if pkg.Link && !strings.HasPrefix(pkg.Resolved, "file:") { // a part's dependencies are below that part
			where = pkg.Resolved
		}
		if err := l.check(where+"/", f["dependencies"], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkFields returns an error for a field that npm does not write or that is null. npm never writes null.
func checkFields(fields map[string]json.RawMessage, known []string) error {
	for key, value := range fields {
		switch {
		case !slices.Contains(known, key):
			return fmt.Errorf("it has the field %q, which npm does not write", key)
		case string(value) == "null":
			return fmt.Errorf("its field %q is null, which npm does not write", key)
		}
	}
	return nil
}
