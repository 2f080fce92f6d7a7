package python

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

var _ ecosystem.FileDigester = Ecosystem{}

// ParseFileDigests returns the digests of the files for each version in a lock file or requirements list.
func (Ecosystem) ParseFileDigests(file string, text []byte) (out []ecosystem.FileDigest) {
	for dependency, digests := range readDigests(file, text) {
		if len(digests) == 0 {
			out = append(out, ecosystem.FileDigest{Dependency: dependency})
		}
		for _, sum := range digests {
			out = append(out, ecosystem.FileDigest{Dependency: dependency, Sum: sum})
		}
	}
	return out
}

// readDigests returns the digests of each version in a lock file. A version without digests has an empty
// list, because its client accepts any file.
func readDigests(file string, text []byte) map[company.Dependency][]string {
	out := map[company.Dependency][]string{}
	switch name := findLockName(file); {
	case name == "Pipfile.lock":
		_, all, _ := readPipenvEntries(text) // CheckForm rejects invalid text
		for _, p := range all {
			addDigests(out, p.toDependency(), p.isElsewhere(), textsOf(p.fields["hashes"])...)
		}
	case lockForms[name].packages != "":
		lockForms[name].addDigests(out, text)
	case isRequirements(file):
		for _, line := range joinLines(string(text)) {
			requirement, options := splitOptions(line)
			for _, d := range parseRequirements([]byte(requirement)) {
				addDigests(out, d, false, listDigests(options)...)
			}
		}
	}
	return out
}

// addDigests adds digests to those of a version. A version from an index is added even without digests,
// because its client accepts any file.
func addDigests(
	to map[company.Dependency][]string, dependency company.Dependency, isElsewhere bool, digests ...string,
) {
	dependency.Ecosystem = ecosystem.PyPI
	if len(digests) > 0 || !isElsewhere {
		to[dependency] = append(to[dependency], digests...)
	}
}

// maxSharing limits the versions of a package that share one list of files, below the package's name. Each
// of these versions has all digests of the list.
const maxSharing = 4

// listVersions returns the distinct versions of each package in a TOML lock file, by canonical name.
func (f lockForm) listVersions(lock map[string]any) map[string][]string {
	versions, seen := map[string][]string{}, map[company.Dependency]bool{}
	for _, entry := range tablesOf(lock[f.packages]) {
		name, _ := entry["name"].(string)
		version, _ := entry["version"].(string)
		if one := (company.Dependency{Name: canonicalName(name), Version: version}); !seen[one] {
			seen[one] = true
			versions[one.Name] = append(versions[one.Name], version)
		}
	}
	return versions
}

// checkSharing returns an error if more than maxSharing versions of a package share one list of files.
func (f lockForm) checkSharing(lock map[string]any, all []addressedPackage) error {
	versions := f.listVersions(lock)
	for _, pkg := range all {
		if pkg.Version == "" && len(versions[canonicalName(pkg.Name)]) > maxSharing {
			return fmt.Errorf("%q has more than %d versions with one list of files, which cannot be compared: lock again with "+
				"a client that lists files for each version", pkg.Name, maxSharing)
		}
	}
	return nil
}

// addDigests adds the digests of a TOML lock file. Old versions of poetry list the files of a package only
// below its name.
func (f lockForm) addDigests(to map[company.Dependency][]string, text []byte) {
	var lock map[string]any
	_ = toml.DecodeOneSpelling(text, &lock) // CheckForm rejects invalid text
	versions, isElsewhere := f.listVersions(lock), map[company.Dependency]bool{}
	for _, entry := range tablesOf(lock[f.packages]) {
		name, _ := entry["name"].(string)
		version, _ := entry["version"].(string)
		isElsewhere[company.Dependency{Name: name, Version: version}] = f.isElsewhere(entry)
	}
	packages, _ := readAddressed(text)
	isMarked := map[string]bool{}
	for _, pkg := range packages {
		var digests []string
		for _, file := range append(pkg.listFiles(), pkg.Archive) {
			if sum := file.formatDigests(); sum != "" {
				digests = append(digests, sum)
			}
		}
		of := []string{pkg.Version}
		if pkg.Version == "" {
			of = versions[canonicalName(pkg.Name)]
		}
		if len(of) > maxSharing { // checkSharing rejects this except in the base
			if isMarked[canonicalName(pkg.Name)] {
				continue
			}
			isMarked[canonicalName(pkg.Name)] = true
			digests = []string{"one list of files for all versions"} // not a digest of a registry
		}
		for _, version := range of {
			d := company.Dependency{Name: pkg.Name, Version: version}
			addDigests(to, d, isElsewhere[d], digests...)
		}
	}
}

var (
	// listDigestsRE matches the options of a requirement as tools write them, which are only digests.
	listDigestsRE = lazyregexp.New(`^(--hash[= ][a-z0-9]+:[0-9A-Fa-f]+([ \t]+|$))+$`)
	listDigestRE  = lazyregexp.New(`[a-z0-9]+:[0-9A-Fa-f]+`)
)

// listDigests returns the digests in the options of a requirement. Options in another form are returned as
// one text, which is not a digest of a registry.
func listDigests(options string) []string {
	switch {
	case options == "":
		return nil
	case !listDigestsRE.MatchString(options):
		return []string{options}
	}
	return listDigestRE.FindAllString(strings.ToLower(options), -1)
}

// listOptionSources returns the lines of a requirements list that have options other than digests in the
// usual form. pip splits such options like a shell and ignores some of them.
func listOptionSources(file string, text []byte) (out []ecosystem.Source) {
	if isProse(file, text) {
		return nil
	}
	for _, line := range joinLines(string(text)) {
		if requirement, options := splitOptions(line); requirement != "" && options != "" &&
			!listDigestsRE.MatchString(options) {
			out = append(out, newLockSource(company.Dependency{}, "options besides --hash=sha256:… in the line", line))
		}
	}
	return out
}
