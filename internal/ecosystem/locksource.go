package ecosystem

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// SourceTeller is a Locker whose files name the source of each package.
type SourceTeller interface {
	Locker
	// ParseSources returns the source of each package of a lock file. A Source without a name applies to all packages of
	// the file. The text is untrusted and has at most the size of a lock file.
	ParseSources(file string, text []byte) []Source
}

// Source holds everything that a lock file states about the origin of a package, as one text. It contains an index, a
// repository with its commit, and each field that the client is not known to write. A list of dangerous fields would
// be incomplete, so this excludes the harmless ones instead.
type Source struct {
	Dependency company.Dependency
	From       string // "" means the public registry or a folder of the tree
}

// FormatRest returns the fields of a table of a lock file as one text, without the fields in except. It returns "" if
// no fields are left.
func FormatRest(table map[string]any, except ...string) string {
	rest := map[string]any{}
	for key, value := range table {
		if value != nil && !slices.Contains(except, key) {
			rest[key] = value
		}
	}
	if len(rest) == 0 {
		return ""
	}
	out, err := json.Marshal(rest)
	if err != nil { // JSON cannot represent some numbers
		return fmt.Sprintf("%q", fmt.Sprint(rest))
	}
	return string(out)
}

// folderRE matches a path that no client reads as an option, a variable or several paths.
var folderRE = lazyregexp.New(`^[A-Za-z0-9._@+]([A-Za-z0-9._@+/-]| [A-Za-z0-9._@+])*$`)

// IsTreeFolder reports whether a path in a lock file has the form of a folder of the tree. It rejects archives,
// because clients unpack them and people do not read them. Some clients drop a dot or a slash at the end of a name.
func IsTreeFolder(lock, folder string) bool {
	isArchive := func(name string) bool {
		ending := strings.ToLower(path.Ext(strings.TrimRight(name, ".")))
		return slices.Contains(archiveEndings, ending)
	}
	names := strings.FieldsFunc(folder, func(c rune) bool { return c == '/' || c == ' ' })
	return folderRE.MatchString(folder) && !slices.ContainsFunc(names, isArchive) &&
		filepath.IsLocal(path.Join(path.Dir(lock), folder))
}

// archiveEndings lists the last file name extensions of archives that clients unpack.
var archiveEndings = []string{
	".whl", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".tbz2", ".tb2",
	".xz", ".txz", ".lz", ".lzma", ".tlz", ".zst", ".tzst", ".z", ".br",
	".7z", ".rar", ".egg", ".gem", ".phar", ".jar", ".pyz",
}
