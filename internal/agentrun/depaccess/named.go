package depaccess

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// manifestRE matches the path of a manifest that is not a lock file.
var manifestRE = lazyregexp.New(
	`(?i)(?:^|/)(?:package\.json|pnpm-workspace\.yaml|composer\.json|cargo\.toml|gemfile|gems\.rb|[^/]+\.gemspec)$`)

// mayName reports whether a path in a file can lead its client to a folder. This is true for manifests, settings
// and lock files. Lock files that repeat manifests are excluded: they are compared with the manifests, and they
// name all of node_modules.
func mayName(file string) bool {
	return manifestRE.MatchString(file) || settingsRE.MatchString(file) || depproxy.IsLockFile(file) &&
		!slices.ContainsFunc(catalog.Of[ecosystem.ManifestRepeater](),
			func(e ecosystem.ManifestRepeater) bool { return e.IsLockFile(file) })
}

// Limits of the names of folders of copies: their number, and the bytes of such names in the texts of a tree.
// Beyond them, no file is left out.
const (
	maxPlaces = 200_000
	maxNames  = 64 << 20
)

// namedPlaces holds the folders of copies with files that a client can be led to. They are indexed by every
// ending of a path that begins at a folder of copies. A path is found by its ending, however it starts, so texts
// need not be parsed like their clients do.
type namedPlaces struct {
	folders map[string][]string // folders by folded ending of a path
	seen    map[[2]string]bool
	room    int // bytes of names that may still be looked up
}

func newNamedPlaces() *namedPlaces {
	return &namedPlaces{folders: map[string][]string{}, seen: map[[2]string]bool{}, room: maxNames}
}

// add adds the folders of a file by its folded path. The name of the file also leads to its folder.
func (n *namedPlaces) add(file string) {
	dir := path.Dir(file)
	for begin := range copiesIn(file) {
		n.addName(file[begin:], dir)
		first, _, _ := strings.Cut(file[begin:], "/")
		top := file[:begin+len(first)]
		if top == dir {
			n.addName(first, top)
		}
		n.addName(first+"/*", top)
		for folder := dir; len(folder) > len(top); folder = path.Dir(folder) {
			n.addName(folder[begin:], folder)
		}
	}
}

func (n *namedPlaces) addName(name, folder string) {
	if !strings.HasSuffix(name, "/*") {
		if end := strings.IndexFunc(name, endsPath); end >= 0 {
			name = strings.TrimRight(name[:end], "/")
		}
	}
	key := [2]string{name, folder}
	if n.seen[key] || len(n.seen) > maxPlaces {
		return
	}
	n.seen[key] = true
	n.folders[name] = append(n.folders[name], folder)
}

// copiesIn yields the offsets in a folded path at which the names of folders of copies begin.
func copiesIn(file string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		begin := 0
		for part := range strings.SplitSeq(file, "/") {
			if isCopiesName(part) && !yield(begin) {
				return
			}
			begin += len(part) + 1
		}
	}
}

var (
	// escapedCharRE matches a numeric character escape of JSON, TOML, YAML, Python or a URL.
	escapedCharRE = lazyregexp.New(`\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}`)
	joinedRE      = lazyregexp.New(`\\[ \t]*\r?\n[ \t]*`) // a line continuation
	// membersRE matches the projects of a uv or Hatch workspace, which may be patterns.
	membersRE = lazyregexp.New(`\bmembers["']?\s*=\s*\[([^\]]*)`)
	patternRE = lazyregexp.New(`["']([^"'*?\[{]*)([*?\[{][^"']*)["']`)
)

// placeKeys lists keys before a folder's name that make it a path even without a slash.
var placeKeys = []string{"path", "editable", "-e", "file", "url"}

// endsPath reports whether a character ends a path in a text. Names of folders are cut at such characters, too.
func endsPath(c rune) bool {
	return unicode.IsSpace(c) || strings.ContainsRune("\"'`,;:=<>()[]{}|&#*?!$", c)
}

// decodeText replaces the escapes of a text by their characters, and folds it to lower case.
func decodeText(text []byte) string {
	if !bytes.ContainsAny(text, `\%`) {
		return gitops.FoldName(string(text))
	}
	return gitops.FoldName(escapedCharRE.ReplaceAllStringFunc(string(text), func(escape string) string {
		number, _ := strconv.ParseUint(strings.TrimLeft(escape, `\uUx%`), 16, 32)
		return string(rune(number))
	}))
}

// joinWords removes characters that may split a name without changing it: quotes, backslashes, line
// continuations.
func joinWords(text string) string {
	if strings.Contains(text, `\`) {
		text = joinedRE.ReplaceAllString(text, "")
	}
	return strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(text)
}

// find returns the folders of copies that a text names. isAny means that it may name any folder. It finds paths
// in every form that people and clients write: with slashes or backslashes, relative to the file or not, with
// quotes in them, or as a URL.
func (n *namedPlaces) find(file string, text []byte) (found []string, isAny bool) {
	folded, all := decodeText(text), map[string]bool{}
	joined := joinWords(folded)
	if isCopied(file) || strings.Contains(folded, "..") || slices.ContainsFunc(copiesNames, func(name string) bool {
		return strings.Contains(folded, name) || strings.Contains(joined, name)
	}) {
		n.findPaths(file, strings.ReplaceAll(folded, `\`, "/"), all)
		n.findPaths(file, joined, all)
	}
	for _, members := range membersRE.FindAllStringSubmatch(folded, -1) {
		for _, pattern := range patternRE.FindAllStringSubmatch(members[1], -1) {
			dir := pattern[1][:strings.LastIndex(pattern[1], "/")+1]
			isAny = isAny || path.Clean(dir) == "." || strings.Contains(pattern[2], "**")
			n.addFound(path.Join(path.Dir(gitops.FoldName(file)), dir), "/*", true, all)
		}
	}
	for folder := range all {
		found = append(found, folder)
	}
	slices.Sort(found)
	return found, isAny || n.room < 0
}

// findPaths adds the folders that the paths in a text name.
func (n *namedPlaces) findPaths(file, text string, found map[string]bool) {
	dir := path.Dir(gitops.FoldName(file))
	for begin := 0; begin < len(text); {
		size := strings.IndexFunc(text[begin:], endsPath)
		if size < 0 {
			size = len(text) - begin
		}
		token := text[begin : begin+size]
		if len(token) > 2 && token[0] == '-' && token[1] != '-' {
			token = token[2:] // an option with its value, such as -rlist.txt
		}
		isNamed := slices.ContainsFunc(copiesNames, func(name string) bool { return strings.Contains(token, name) })
		if isNamed || strings.HasPrefix(token, "../") {
			before := strings.TrimRight(text[max(begin-20, 0):begin+size-len(token)], "\"' \t:=")
			isPath := strings.Contains(strings.TrimRight(token, "/"), "/") || slices.ContainsFunc(placeKeys,
				func(key string) bool { return strings.HasSuffix(before, key) })
			if token[0] == '.' {
				token = path.Join(dir, token)
			}
			n.addFound(path.Clean(token), "", isPath, found)
		}
		begin += max(size, 1)
	}
}

// addFound adds the folders that a path names. ending is appended to a path that is only the name of a folder of
// copies.
func (n *namedPlaces) addFound(file, ending string, isPath bool, found map[string]bool) {
	if len(file) > maxPath {
		return
	}
	for begin := range copiesIn(file) {
		name := file[begin:]
		if n.room -= len(name); n.room < 0 {
			return
		}
		if !strings.Contains(name, "/") {
			if !isPath {
				continue
			}
			name += ending
		}
		for _, folder := range n.folders[name] {
			found[folder] = true
		}
	}
}

// unclearRE matches a line of a list or manifest with a variable: ${X}, {env:X:y}, {[section]key}.
var unclearRE = lazyregexp.New(`\$\{|\{[\[\w][^\s{}="',]*\}`)

// hasUnclear reports whether a list or a manifest has lines that the base's lacks, with a path that only its
// client can resolve. Such a path has a variable, or is a pattern in the projects of a workspace.
func hasUnclear(text, base []byte) bool {
	had, hasMembers := splitLines(base), strings.Contains(decodeText(text), "members")
	return slices.ContainsFunc(splitLines(text), func(line string) bool {
		return (unclearRE.MatchString(line) || hasMembers && patternRE.MatchString(line)) && !slices.Contains(had, line)
	})
}
