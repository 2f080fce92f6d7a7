package python

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// pipenvEntry is an entry of a Pipfile.lock, in a group of any name.
type pipenvEntry struct {
	name   string
	fields map[string]any
}

// pipenvMarkers lists the fields of an entry that are markers of the variable with that name.
var pipenvMarkers = []string{
	"os_name", "sys_platform", "platform_machine", "platform_python_implementation", "platform_release",
	"platform_system", "platform_version", "python_version", "python_full_version", "implementation_name",
	"implementation_version",
}

// pipenvFields has the fields of an entry that do not affect the source of its package.
var pipenvFields = func() fieldRules {
	rules := fieldRules{"version": matchText(pipenvVersionRE), "hashes": listOf(isDigest), "markers": isMarker,
		"extras": listOf(isExtra), "editable": isFlag}
	for _, variable := range pipenvMarkers {
		rules[variable] = isMarkerOf(variable)
	}
	return rules
}()

// readPipenvEntries parses the entries of a Pipfile.lock and its metadata.
func readPipenvEntries(text []byte) (meta map[string]any, all []pipenvEntry, err error) {
	var lock map[string]map[string]json.RawMessage
	if json.Unmarshal(text, &lock) != nil {
		return nil, nil, errors.New("it is not a lock file of Pipenv")
	}
	for _, group := range slices.Sorted(maps.Keys(lock)) {
		for _, name := range slices.Sorted(maps.Keys(lock[group])) {
			var fields map[string]any
			err := json.Unmarshal(lock[group][name], &fields)
			switch {
			case group == "_meta":
			case err != nil || fields == nil:
				return nil, nil, fmt.Errorf("%q is not an object", name)
			default:
				all = append(all, pipenvEntry{name, fields})
			}
		}
	}
	meta = map[string]any{}
	for key, raw := range lock["_meta"] {
		var value any
		_ = json.Unmarshal(raw, &value) // already parsed as part of the file
		meta[key] = value
	}
	return meta, all, nil
}

// toDependency returns the package of an entry.
func (p pipenvEntry) toDependency() company.Dependency {
	version, _ := p.fields["version"].(string)
	return company.Dependency{Ecosystem: ecosystem.PyPI, Name: p.name, Version: strings.TrimPrefix(version, "==")}
}

// pipenvPlaces lists the fields that mark an entry whose package is not from an index.
var pipenvPlaces = []string{"git", "hg", "svn", "bzr", "path", "file", "url", "uri"}

// isElsewhere reports whether a package is not from an index.
func (p pipenvEntry) isElsewhere() bool { return hasPlace(p.fields, pipenvPlaces) }

func parsePipfileLock(text []byte) (out []company.Dependency, err error) {
	_, all, err := readPipenvEntries(text)
	for _, pipenvEntry := range all {
		if !pipenvEntry.isElsewhere() {
			out = append(out, pipenvEntry.toDependency())
		}
	}
	return out, err
}

// parsePipenvSources returns the sources in a Pipfile.lock. An entry may name an index whose address is in
// the metadata. Otherwise pipenv uses all indexes. It also uses the others if that index has no file with
// the entry's digest.
func parsePipenvSources(file string, text []byte) (out []ecosystem.Source) {
	meta, entries, err := readPipenvEntries(text)
	if err != nil {
		return nil // CheckForm rejects it
	}
	every, named := readIndexes(meta["sources"])
	top := ecosystem.FormatRest(meta, "hash", "pipfile-spec", "requires", "sources", "host-environment-markers")
	for _, above := range append(every, top) {
		out = append(out, newLockSource(company.Dependency{}, above))
	}
	all := shortenSource(strings.Join(slices.Compact(every), " "))
	for _, pipenvEntry := range entries {
		known, from := namesOf(pipenvFields), all
		if folder, _ := pipenvEntry.fields["path"].(string); ecosystem.IsTreeFolder(file, folder) {
			known = append(known, "path")
		}
		if index, ok := pipenvEntry.fields["index"].(string); ok {
			known = append(known, "index")
			if from, ok = named[index]; !ok {
				from = "index " + index
			}
		}
		if pipenvEntry.isElsewhere() {
			from = "" // pipenv uses no index
		}
		out = append(out, newLockSource(pipenvEntry.toDependency(), from, ecosystem.FormatRest(pipenvEntry.fields, known...)))
	}
	return out
}

// shortenSource replaces a long source by its hash, because a source is repeated for each package of a
// file. Different sources give different results.
func shortenSource(source string) string {
	const longest = 500 // bytes; addresses of indexes are shorter
	if len(source) <= longest {
		return source
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(source)))
}

// readIndexes returns all indexes of a Pipfile.lock, as a list and by name. pipenv only checks certificates
// if verify_ssl is exactly true or missing.
func readIndexes(sources any) (every []string, named map[string]string) {
	named = map[string]string{}
	list, _ := sources.([]any)
	for _, one := range list {
		table, _ := one.(map[string]any)
		address, _ := table["url"].(string)
		from := ecosystem.FormatRest(table, "name")
		verified, isSet := table["verify_ssl"]
		if (!isSet || verified == true) && ecosystem.FormatRest(table, "name", "url", "verify_ssl") == "" {
			from = formatIndex(address)
		}
		name, _ := table["name"].(string)
		if _, twice := named[name]; twice {
			from = named[name] + " " + from
		}
		named[name] = shortenSource(from)
		every = append(every, from)
	}
	return every, named
}

// checkPipenvLock returns an error if a field of a Pipfile.lock has an invalid value. pipenv writes the
// name and values of an entry into one line of a list. pip could read an address, an option or a further
// line there.
func checkPipenvLock(text []byte) error {
	if err := ecosystem.CheckJSON(text); err != nil {
		return err
	}
	_, all, err := readPipenvEntries(text)
	for _, pipenvEntry := range all {
		if !nameRE.MatchString(pipenvEntry.name) {
			return ecosystem.NameError(pipenvEntry.name, "the name of a Python package")
		}
		if err := pipenvFields.checkTable(pipenvEntry.name, pipenvEntry.fields); err != nil {
			return err
		}
	}
	return err
}
