package depaccess

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// movers lists settings with which a client reads a file of any name as its lock file. Settings that move a file
// but keep its name are not listed, because that file is compared anywhere (see scope).
var movers = []struct {
	file, moves *lazyregexp.Regexp // match the end of the file's path, and a line that moves a lock file
	isYAML      bool
}{
	{lazyregexp.New(`(?i)(?:^|/)\.yarnrc\.yml$`), lazyregexp.New(`(?i)^["']?lockfileFilename\b`), true},
	// bundler reads this file line by line, and also accepts a line indented by one space.
	{lazyregexp.New(`(?i)(?:^|/)\.bundle(?:/config)?$`),
		lazyregexp.New(`(?i)^\s*["']?BUNDLE_(?:GEMFILE|LOCKFILE)\b`), false},
}

// topLineRE matches a line of YAML that begins with a plain key, or has no top-level key: an indent, an item,
// the end of a list or of a map, a comment.
var topLineRE = lazyregexp.New(
	`^(?:["']?[A-Za-z][A-Za-z0-9]*["']?[ \t]*:(?:[ \t].*)?|[ \t#].*|-(?:[ \t].*)?|---[ \t]*|[\]}]+[ \t]*)$`)

// FindMoved lists settings of a tree with which a client may read a file of another name as its lock file. This
// includes settings for which that is unclear. Settings that the base has unchanged are left out.
func FindMoved(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (paths []string, err error) {
	scope, entries, err := findScope(ctx, mirror, base, at)
	if err != nil {
		return nil, err
	}
	before, err := mirror.List(ctx, base)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, entry := range entries {
		if isMover(entry.Path) && !scope.isCopy(entry.Path) && !slices.Contains(before, entry) {
			changed = append(changed, entry.Path)
		}
	}
	is, err := readFiles(ctx, mirror, at, changed)
	if err != nil {
		return nil, err
	}
	was, err := readFiles(ctx, mirror, base, changed)
	for _, file := range changed {
		if text, isRead := is[file]; !isRead || movesLock(file, text, was[file]) {
			paths = append(paths, file)
		}
	}
	return paths, err
}

func isMover(file string) bool {
	for _, one := range movers {
		if one.file.MatchString(file) {
			return true
		}
	}
	return false
}

// movesLock reports whether settings have a line that moves a lock file and that the base's settings lack. It
// also returns true if that is unclear.
func movesLock(file string, text, base []byte) bool {
	had, lines := splitLines(base), splitLines(text)
	for _, one := range movers {
		if !one.file.MatchString(file) {
			continue
		}
		isMoved := func(line string) bool { return one.moves.MatchString(line) && !slices.Contains(had, line) }
		if slices.ContainsFunc(lines, isMoved) || one.isYAML && !hasPlainTop(lines) {
			return true
		}
	}
	return false
}

// hasPlainTop reports whether each top-level key of a YAML file is plain and begins its line, in the usual form.
// Then no other line has a top-level key.
func hasPlainTop(lines []string) bool {
	isFirst := true
	for _, line := range lines {
		content := strings.TrimLeft(line, " \t")
		if content == "" || content[0] == '#' {
			continue
		}
		if !topLineRE.MatchString(line) || isFirst && content != line {
			return false
		}
		isFirst = isFirst && strings.HasPrefix(line, "---")
	}
	return true
}

// splitLines splits a text at YAML's line ends and drops a byte order mark.
func splitLines(text []byte) []string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' || c == '\r' })
}
