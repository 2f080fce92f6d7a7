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
	var entries strings.Builder
	for _, entry := range all {
		if path.Base(entry.Path) == ".gitattributes" && entry.Mode != ModeSymlink && entry.Mode != ModeGitlink {
			fmt.Fprintf(&entries, "100644 %s\t%s\x00", entry.OID, entry.Path)
		}
	}
	out := map[FileAttribute]string{}
	if entries.Len() == 0 || len(paths) == 0 {
		return out, nil
	}
	index := filepath.Join(m.s.tempDir(), "index-"+rand.Text())
	defer func() { _ = m.s.own.RemoveAll(m.s.relName(index)) }() // git may have created no file
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := m.s.runOK(
		ctx, call{dir: m.dir, env: env, args: []string{"update-index", "--add", "-z", "--index-info"},
			// An old folder may have any name, but none of these files is written to disk.
			config: []gitexec.Setting{{"core.protectHFS", "false"}, {"core.protectNTFS", "false"}},
			stdin:  strings.NewReader(entries.String())}); err != nil {
		return nil, err
	}
	result, err := m.s.runOK(
		ctx, call{dir: m.dir, env: env, config: []gitexec.Setting{{"core.ignoreCase", fmt.Sprint(foldNames)}},
			args:  append([]string{"check-attr", "--cached", "-z", "--stdin"}, names...),
			stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00")})
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(result.out), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		if value := fields[2]; value != "unspecified" && value != "unset" {
			out[FileAttribute{fields[0], fields[1]}] = value
		}
	}
	return out, nil
}
