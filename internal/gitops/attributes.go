package gitops

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// FileAttribute is one attribute of a file.
type FileAttribute struct{ Path, Name string }

// ReadAttributes returns the named attributes that the .gitattributes of a commit or tree give to paths. It leaves
// out unspecified and unset ones. foldNames ignores the case of names in patterns, as some systems do.
func (m *Mirror) ReadAttributes(
	ctx context.Context, treeish company.OID, paths, names []string, foldNames bool,
) (map[FileAttribute]string, error) {
	all, err := m.List(ctx, treeish)
	if err != nil {
		return nil, err
	}
	found, err := m.s.checkAttributes(ctx, m.dir, attributeCheck{files: all, paths: paths, names: names}, foldNames)
	if err != nil {
		return nil, err
	}
	out := found[0]
	for attribute, value := range out {
		if value == "unset" {
			delete(out, attribute)
		}
	}
	return out, nil
}

// attributeCheck asks for the named attributes of paths.
type attributeCheck struct {
	files        []Entry // of a tree, of which only the .gitattributes count
	paths, names []string
	limited      bool // see call
}

// checkAttributes returns the attributes of paths, without unspecified ones, once for each of foldNames.
func (s *Store) checkAttributes(
	ctx context.Context, dir string, check attributeCheck, foldNames ...bool,
) ([]map[FileAttribute]string, error) {
	out := make([]map[FileAttribute]string, len(foldNames))
	for i := range out {
		out[i] = map[FileAttribute]string{}
	}
	var entries strings.Builder
	for _, entry := range check.files {
		if path.Base(entry.Path) == ".gitattributes" && entry.Mode != ModeSymlink && entry.Mode != ModeGitlink {
			fmt.Fprintf(&entries, "100644 %s\t%s\x00", entry.OID, entry.Path)
		}
	}
	if entries.Len() == 0 || len(check.paths) == 0 {
		return out, nil
	}
	index := filepath.Join(s.tempDir(), "index-"+rand.Text())
	defer func() { _ = s.own.RemoveAll(s.relName(index)) }() // git may have created no file
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := s.runOK(
		ctx, call{dir: dir, env: env, args: []string{"update-index", "--add", "-z", "--index-info"},
			// An old folder may have any name, but none of these files is written to disk.
			config: []gitexec.Setting{{"core.protectHFS", "false"}, {"core.protectNTFS", "false"}},
			stdin:  strings.NewReader(entries.String())}); err != nil {
		return nil, err
	}
	for i, folds := range foldNames {
		result, err := s.runOK(
			ctx, call{dir: dir, env: env, config: []gitexec.Setting{{"core.ignoreCase", fmt.Sprint(folds)}},
				args:    append([]string{"check-attr", "--cached", "-z", "--stdin"}, check.names...),
				limited: check.limited,
				stdin:   strings.NewReader(strings.Join(check.paths, "\x00") + "\x00")})
		if err != nil {
			return nil, err
		}
		fields := strings.Split(string(result.out), "\x00")
		for ; len(fields) > 3; fields = fields[3:] {
			if value := fields[2]; value != "unspecified" {
				out[i][FileAttribute{fields[0], fields[1]}] = value
			}
		}
	}
	return out, nil
}
