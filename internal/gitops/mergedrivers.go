package gitops

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// DriverOurs is the merge driver of a common recipe (merge.ours.driver=true): a file that both sides changed stays as
// the branch has it that the other one is merged into. git knows it only from a configuration.
const DriverOurs = "ours"

// chooseDriver returns the attribute that makes git merge a file by a driver, without a program. It returns "" for a
// driver that is a program, because git then merges the file as text. A file with DriverOurs becomes a conflict with
// our side's text, which the caller resolves: git would start a program for it.
func chooseDriver(driver string) string {
	switch driver {
	case "union", "binary", "text":
		return "merge=" + driver
	case "set":
		return "merge"
	case "unset", DriverOurs:
		return "-merge"
	}
	return ""
}

// IsForeignDriver reports whether a merge driver is a program of the repository's own, which is not run.
func IsForeignDriver(driver string) bool {
	return driver != "" && driver != DriverOurs && chooseDriver(driver) == ""
}

// readDrivers returns the merge drivers of the files that differ between two commits. git merges no other file's text.
func (m *Mirror) readDrivers(ctx context.Context, attributes, ours, theirs company.OID) (map[string]string, error) {
	if attributes == "" {
		return nil, nil
	}
	files, err := m.List(ctx, attributes)
	if err != nil || !slices.ContainsFunc(files, func(e Entry) bool { return path.Base(e.Path) == ".gitattributes" }) {
		return nil, err
	}
	diff, err := m.Diff(ctx, ours, theirs, 0)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, change := range diff.Changes {
		paths = append(paths, change.Path)
	}
	check := attributeCheck{files: files, paths: paths, names: []string{"merge"}}
	found, err := m.s.checkAttributes(ctx, m.dir, check, false)
	if err != nil {
		return nil, err
	}
	drivers := map[string]string{}
	for attribute, driver := range found[0] {
		drivers[attribute.Path] = driver
	}
	return drivers, nil
}

// maxAttributeLine limits a line of an attributes file. git ignores longer ones, with a warning.
const maxAttributeLine = 2000

// applyDrivers returns the configuration with which git merges files by their drivers. It writes one attributes file
// with a line per file, because git reads no attributes of a tree in a bare repository. done removes the file.
func (s *Store) applyDrivers(drivers map[string]string) (config []gitexec.Setting, done func(), err error) {
	var text strings.Builder
	for _, file := range slices.Sorted(maps.Keys(drivers)) {
		line := quoteAttributePath(file) + " " + chooseDriver(drivers[file]) + "\n"
		if chooseDriver(drivers[file]) != "" && len(line) <= maxAttributeLine {
			text.WriteString(line)
		}
	}
	if text.Len() == 0 {
		return nil, func() {}, nil
	}
	file := filepath.Join(s.tempDir(), "attributes-"+rand.Text())
	done = func() { _ = s.own.RemoveAll(s.relName(file)) }
	if err := s.own.WriteFile(s.relName(file), []byte(text.String()), 0o600); err != nil {
		done()
		return nil, nil, storeError("the attributes of a merge cannot be written", err)
	}
	return []gitexec.Setting{{"core.attributesFile", file}}, done, nil
}

// quoteAttributePath returns the pattern of an attributes file that matches exactly one path.
func quoteAttributePath(file string) string {
	var b strings.Builder
	b.WriteString(`"/`)
	for _, c := range []byte(file) {
		switch {
		case c == '\\': // once for the pattern, and each once for the quotes
			b.WriteString(`\\\\`)
		case strings.IndexByte("*?[", c) >= 0:
			b.WriteString(`\\` + string(c))
		case c == '"':
			b.WriteString(`\"`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
