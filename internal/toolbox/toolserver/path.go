package toolserver

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/toolbox/toolproto"
)

// resolvePath turns a model's path into one relative to the workspace, following symlinks that stay inside. It refuses
// a path outside or in .git. os.Root has the last check: it opens no file outside, even if links change meanwhile.
//
// A path that is written wrongly is a mistake like any other, wherever it points: commands of the same agent reach the
// same files. A path in the workspace that leads out of it, or into .git, is a security event (WRK-4).
func (s *Server) resolvePath(path string) (string, error) {
	rel, err := s.placePath(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(s.dir, rel))
	if err == nil {
		if rel, err = filepath.Rel(s.dir, real); err != nil || !filepath.IsLocal(rel) {
			return "", outsideError(path)
		}
	}
	if rel == ".git" || strings.HasPrefix(rel, ".git/") {
		return "", toolproto.Refuse(toolproto.KindOutside,
			"%s belongs to git; use git_commit, or git through run_command", path)
	}
	return rel, nil
}

// outsideError refuses a path in the workspace that leads out of it.
func outsideError(path string) error {
	return toolproto.Refuse(toolproto.KindOutside, "%s is outside the workspace; use paths relative to its root", path)
}

// placePath returns the place in the workspace that a path names, relative to the root and without following its
// symlinks. A path that exists counts as it is written. Otherwise it is read as models copy it from messages, URLs and
// other systems, and may exist then.
func (s *Server) placePath(path string) (string, error) {
	tidy := tidyPath(path)
	if tidy == "" || strings.ContainsRune(path+tidy, 0) {
		return "", toolproto.Refuse(toolproto.KindArgument, "path must name a file in the workspace")
	}
	for _, candidate := range []string{path, tidy, aLineSuffix.ReplaceAllString(tidy, "")} {
		if rel, ok := s.localPath(candidate); ok {
			if spelled, there := s.spellPath(rel); there {
				return spelled, nil
			}
		}
	}
	rel, ok := s.localPath(tidy)
	if !ok {
		return "", s.refuseOutside(path, tidy)
	}
	spelled, _ := s.spellPath(rel)
	return spelled, nil
}

// aLineSuffix matches a line number behind a path, as compilers and links write it.
var aLineSuffix = lazyregexp.New(`(?::\d+(?:[-:]\d+)?:?|#L\d+(?:-L?\d+)?)$`)

// aDrive matches the beginning of an absolute path of Windows.
var aDrive = lazyregexp.New(`^[A-Za-z]:[\\/]`)

// tidyPath removes from a path what is not part of it: white space and quotes around it, the scheme of a URL, the
// drive and the backslashes of Windows.
func tidyPath(path string) string {
	path = strings.TrimSpace(path)
	if n := len(path); n > 2 && path[0] == path[n-1] && strings.ContainsRune("\"'`", rune(path[0])) {
		path = path[1 : n-1]
	}
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		path = strings.TrimPrefix(rest, "localhost")
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	}
	path = aDrive.ReplaceAllString(path, "/")
	path = strings.ReplaceAll(strings.ReplaceAll(path, `\ `, " "), `\`, "/")
	if strings.HasPrefix(path, "~/") {
		path = "/" + path // a place outside
	}
	return path
}

// localPath returns a path relative to the root. ok is false if the path leads out of the workspace.
func (s *Server) localPath(path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	rel, err := filepath.Rel(s.dir, filepath.Clean(path))
	return rel, err == nil && filepath.IsLocal(rel)
}

// spellPath returns a path as the folders spell its names: accents may be characters of their own there, and blanks of
// another width. What does not exist stays as it is.
func (s *Server) spellPath(rel string) (spelled string, there bool) {
	if _, err := s.root.Lstat(rel); !errors.Is(err, fs.ErrNotExist) {
		return rel, true // or it is refused for another reason
	}
	folder := "."
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		next := filepath.Join(folder, part)
		if _, err := s.root.Lstat(next); err != nil {
			name, ok := s.findSpelling(folder, part)
			if !ok {
				return filepath.Join(folder, filepath.Join(parts[i:]...)), false
			}
			next = filepath.Join(folder, name)
		}
		folder = next
	}
	return folder, true
}

// findSpelling returns the name in a folder that differs from name only in its spelling, if there is exactly one.
func (s *Server) findSpelling(folder, name string) (spelled string, ok bool) {
	dir, err := s.root.Open(folder)
	if err != nil {
		return "", false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return "", false
	}
	return toolproto.FindSpelling(name, names)
}

// refuseOutside refuses a path that names no place in the workspace, and says which one it may mean.
func (s *Server) refuseOutside(path, tidy string) error {
	return toolproto.Refuse(toolproto.KindArgument,
		"%s is outside the workspace: give the path from its root, %s%s; run_command reaches files elsewhere", path,
		s.dir, s.suggestPath(tidy))
}

// suggestPath returns the end of a refusal for a path that does not exist. It names the path in the workspace that
// ends in the same way, or those with similar names.
func (s *Server) suggestPath(path string) string {
	path = filepath.Clean(tidyPath(path))
	absolute := filepath.IsAbs(path)
	parts := strings.Split(strings.TrimLeft(path, "/"), "/")
	newFile := ""
	for i := range parts {
		rel := filepath.Join(parts[i:]...)
		last := i == len(parts)-1
		if !filepath.IsLocal(rel) || !absolute && (i == 0 || last) { // the path itself, or a name that many files have
			continue
		}
		spelled, there := s.spellPath(rel)
		if there {
			return "; did you mean " + spelled + "?"
		}
		if _, err := s.root.Stat(filepath.Dir(spelled)); err == nil && absolute && !last && newFile == "" {
			newFile = "; did you mean " + spelled + "?"
		}
	}
	return cmp.Or(newFile, s.similarNames(path))
}
