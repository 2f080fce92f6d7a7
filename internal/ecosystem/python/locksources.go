package python

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
)

// lockForm has the fields of one kind of lock file, each with its rule. A field of another kind is unknown
// here, because this kind's client may ignore it.
type lockForm struct {
	packages string // the list of packages
	// Fields that do not affect the source of packages.
	top, metadata, entry fieldRules
	// The fields of an entry that list its files, and the field of a file that has its digest.
	files  []string
	digest string
	// These mark a package that is not from an index: fields of its entry, fields of its source, and types of
	// its source.
	places, sources, types []string
}

// lockForms holds the forms of TOML lock files by file name.
var lockForms = map[string]lockForm{
	"uv.lock": {
		packages: "package",
		top: joinRules(rulesOf(hasLines, "version", "revision", "requires-python", "conflicts", "options", "manifest"),
			rulesOf(listOf(isMarker), "resolution-markers", "supported-markers", "required-markers")),
		entry: joinRules(rulesOf(tableOf(lockedNeeds), "optional-dependencies", "dev-dependencies", "dependency-groups"),
			rulesOf(listOf(isMarker), "resolution-markers", "fork-markers"),
			fieldRules{"name": isPackage, "version": isVersion, "dependencies": lockedNeeds, "metadata": hasLines}),
		files:   []string{"sdist", "wheels"},
		digest:  "hash",
		sources: []string{"git", "url", "path", "directory", "editable", "virtual"},
	},
	"poetry.lock": {
		packages: "package",
		top:      fieldRules{"extras": hasLines},
		metadata: rulesOf(hasLines, "lock-version", "python-versions", "content-hash", "hashes"),
		entry: joinRules(rulesOf(isLine, "category", "python-versions", "platform"), rulesOf(isFlag, "optional", "develop"),
			rulesOf(oneOf(isMarker, tableOf(isMarker)), "marker", "markers"),
			fieldRules{"name": isPackage, "version": isVersion, "description": isFreeText, "groups": listOf(isLine),
				"dependencies": poetryNeeds, "extras": tableOf(listOf(isRequirement))}),
		files:  []string{"files"},
		digest: "hash",
		types:  []string{"git", "url", "file", "directory"},
	},
	"pdm.lock": {
		packages: "package",
		metadata: rulesOf(hasLines, "groups", "strategy", "lock_version", "content_hash", "cross_platform", "targets",
			"static_urls", "inherit_metadata"),
		entry: joinRules(rulesOf(listOf(isLine), "sections", "groups"),
			fieldRules{"name": isPackage, "version": isVersion, "summary": isFreeText, "requires_python": isLine,
				"marker": isMarker,
				"extras": listOf(isExtra), "dependencies": listOf(isRequirement), "editable": isFlag}),
		files:  []string{"files"},
		digest: "hash",
		places: []string{"git", "hg", "svn", "bzr", "url", "path"},
	},
	"pylock.toml": {
		packages: "packages",
		top: joinRules(rulesOf(hasLines, "lock-version", "requires-python", "extras", "dependency-groups", "default-groups",
			"created-by", "tool"), rulesOf(listOf(isMarker), "environments")),
		entry: joinRules(rulesOf(hasLines, "requires-python", "attestation-identities", "tool"),
			fieldRules{"name": isPackage, "version": isVersion, "marker": isMarker, "dependencies": lockedNeeds}),
		files:  []string{"sdist", "wheels", "archive"},
		digest: "hashes",
		places: []string{"vcs", "directory"},
	},
}

// fileFields lists the fields of a package's file apart from its digest. ParseAddresses returns its address
// with the digest.
var fileFields = joinRules(rulesOf(isLine, "file", "name", "filename", "path"),
	fieldRules{"url": isAddress}, rulesOf(hasLines, "size", "upload-time"))

// isFiles reports whether a value is a file of a package or a list of files.
func isFiles(value any) bool {
	file := tableWith(joinRules(fileFields, fieldRules{"hash": isDigest, "hashes": isDigestTable}))
	return oneOf(file, listOf(file))(value)
}

// checkTexts returns an error for the first field of a lock file that breaks its rule.
func (f lockForm) checkTexts(lock map[string]any) error {
	metadata := joinRules(f.metadata, fieldRules{"files": tableOf(isFiles)})
	top := joinRules(f.top, fieldRules{"metadata": isFreeText, f.packages: isFreeText}) // checked below
	if err := top.checkTable("the file", lock); err != nil {
		return err
	}
	if table, isTable := lock["metadata"].(map[string]any); isTable {
		if err := metadata.checkTable("the file", table); err != nil {
			return err
		}
	}
	entry := joinRules(f.entry, rulesOf(isFiles, f.files...))
	for _, table := range tablesOf(lock[f.packages]) {
		if err := entry.checkTable(fmt.Sprint(table["name"]), table); err != nil {
			return err
		}
	}
	return nil
}

// namesOf returns the names of fields together with others.
func namesOf(rules fieldRules, others ...string) []string {
	return slices.AppendSeq(others, maps.Keys(rules))
}

// isElsewhere reports whether the package of an entry is not from an index.
func (f lockForm) isElsewhere(entry map[string]any) bool {
	source, _ := entry["source"].(map[string]any)
	kind, _ := source["type"].(string)
	isOfType := slices.Contains(f.types, kind) && hasPlace(source, []string{"url"})
	return isOfType || hasPlace(source, f.sources) || hasPlace(entry, f.places)
}

// hasPlace reports whether a table has any of these fields with a non-empty string or table.
func hasPlace(table map[string]any, fields []string) bool {
	return slices.ContainsFunc(fields, func(key string) bool {
		text, _ := table[key].(string)
		place, _ := table[key].(map[string]any)
		return text != "" || len(place) > 0
	})
}

// furtherNames maps patterns of other file names to the usual name of a lock file. pipenv and pdm accept
// other files, and uv has one for each script.
var furtherNames = map[string]string{"Pipfile*.lock": "Pipfile.lock", "pdm.*.lock": "pdm.lock", "*.py.lock": "uv.lock"}

// findLockName returns the usual name of a kind of lock file. The name pylock.toml may contain a further
// part (PEP 751).
func findLockName(file string) string {
	base := path.Base(file)
	for pattern, usual := range furtherNames {
		if ecosystem.HasName(base, []string{pattern}) {
			return usual
		}
	}
	if middle, ok := strings.CutPrefix(base, "pylock."); ok {
		if middle, ok = strings.CutSuffix(middle, ".toml"); ok && !strings.Contains(middle, ".") {
			return "pylock.toml"
		}
	}
	return base
}

// iniManifests lists manifests in the format of Python's configparser or with an embedded text in it.
var iniManifests = []string{"setup.cfg", "tox.ini", "pyproject.toml"}

// oddFix is the advice for a manifest that its readers may interpret differently.
const oddFix = "(write each head alone on its line, each key once, and packages without references), in the file\n"

// ParseSources returns the sources of the packages in a lock file.
func (Ecosystem) ParseSources(file string, text []byte) (out []ecosystem.Source) {
	name := findLockName(file)
	switch {
	case name == "Pipfile.lock":
		return parsePipenvSources(file, text)
	case isRequirements(file):
		return listOptionSources(file, text)
	case slices.Contains(iniManifests, name):
		if _, odd, _ := listManifestLines(name, text); odd != "" {
			return []ecosystem.Source{newLockSource(company.Dependency{}, odd, oddFix, string(text))}
		}
		return nil
	}
	form, ok := lockForms[name]
	var lock map[string]any
	if !ok || toml.DecodeOneSpelling(text, &lock) != nil {
		return nil // CheckForm rejects it
	}
	metadata, _ := lock["metadata"].(map[string]any)
	knownTop := namesOf(form.top, form.packages)
	if metadata != nil && form.metadata != nil {
		knownTop = append(knownTop, "metadata")
	}
	top := []string{
		ecosystem.FormatRest(lock, knownTop...),
		ecosystem.FormatRest(metadata, namesOf(form.metadata, "files")...),
	}
	if listed, _ := metadata["files"].(map[string]any); listed != nil {
		for _, files := range listed {
			top = append(top, form.formatFileRests(files)...)
		}
	}
	slices.Sort(top)
	out = append(out, newLockSource(company.Dependency{}, top...))
	for _, entry := range tablesOf(lock[form.packages]) {
		named, _ := entry["name"].(string)
		version, _ := entry["version"].(string)
		d := company.Dependency{Name: named, Version: version}
		out = append(out, newLockSource(d, form.listOrigins(file, entry)...))
	}
	return out
}

func newLockSource(dependency company.Dependency, parts ...string) ecosystem.Source {
	dependency.Ecosystem = ecosystem.PyPI
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return ecosystem.Source{Dependency: dependency, From: strings.Join(parts, " ")}
}

// listOrigins lists the parts of an entry that affect the source of its package.
func (f lockForm) listOrigins(file string, entry map[string]any) (out []string) {
	known := namesOf(f.entry, slices.Clone(f.files)...)
	if folder, _ := entry["path"].(string); ecosystem.IsTreeFolder(file, folder) && slices.Contains(f.places, "path") {
		known = append(known, "path") // pdm's
	}
	if folder, ok := entry["directory"].(map[string]any); ok && slices.Contains(f.places, "directory") { // pylock.toml's
		at, _ := folder["path"].(string)
		if ecosystem.IsTreeFolder(file, at) && ecosystem.FormatRest(folder, "path", "editable") == "" {
			known = append(known, "directory")
		}
	}
	if index, ok := entry["index"].(string); ok && f.packages == "packages" {
		known, out = append(known, "index"), append(out, formatIndex(index))
	}
	if source, ok := entry["source"].(map[string]any); ok && f.packages == "package" {
		known, out = append(known, "source"), append(out, f.formatSource(file, source))
	}
	for _, key := range f.files {
		out = append(out, f.formatFileRests(entry[key])...)
	}
	out = append(out, listNeedOrigins(file, entry)...)
	return append(out, ecosystem.FormatRest(entry, known...))
}

// formatSource returns the source of a uv or poetry package as one text. It is empty for the public index
// and for a folder of the tree.
func (f lockForm) formatSource(file string, source map[string]any) string {
	text := func(key string) string {
		s, _ := source[key].(string)
		return s
	}
	folder := text("virtual") + text("editable") + text("directory")
	switch {
	case f.sources != nil && len(source) == 1 && text("registry") != "":
		return formatIndex(text("registry"))
	case f.sources != nil && len(source) == 1 && ecosystem.IsTreeFolder(file, folder):
		return ""
	case f.types != nil && text("type") == "directory" && text("reference") == "" &&
		ecosystem.IsTreeFolder(file, text("url")):
		return ecosystem.FormatRest(source, "type", "url", "reference")
	}
	return ecosystem.FormatRest(source)
}

// publicIndexes lists the addresses of PyPI.
var publicIndexes = []string{"https://pypi.org/simple", "https://pypi.python.org/simple"}

// formatIndex returns the address of an index without slashes at its end. It returns "" for PyPI.
func formatIndex(index string) string {
	if index = strings.TrimRight(index, "/"); slices.Contains(publicIndexes, index) {
		return ""
	}
	return index
}

// formatFileRests returns the unknown fields of a file or of each file in a list.
func (f lockForm) formatFileRests(files any) (out []string) {
	for _, one := range tablesOf(files) {
		out = append(out, ecosystem.FormatRest(one, namesOf(fileFields, f.digest)...))
	}
	return out
}

// tablesOf returns the tables in a TOML list, or the value itself if it is a table.
func tablesOf(value any) (out []map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []map[string]any:
		return v
	case []any:
		for _, one := range v {
			if t, ok := one.(map[string]any); ok {
				out = append(out, t)
			}
		}
	}
	return out
}
