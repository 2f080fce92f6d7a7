package toolserver

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"company/internal/company/glob"
	"company/internal/lib/charset"
	"company/internal/toolbox/toolproto"
)

const (
	maxSearched = 4 << 20 // size limit of a file that is searched, in bytes
	maxGlob     = 4 << 10 // size limit of a glob, in bytes: each pair of braces in it is expanded recursively
)

func (s *Server) searchFiles(ctx context.Context, request toolproto.SearchRequest) (toolproto.SearchResult, error) {
	var none toolproto.SearchResult
	if request.Pattern == "" {
		return none, toolproto.Refuse(toolproto.KindArgument, "pattern is empty")
	}
	pattern, err := toolproto.CompilePattern(request.Pattern)
	if err != nil {
		return none, toolproto.Refuse(toolproto.KindArgument, "%v", err)
	}
	paths, err := s.globFiles(ctx, request.Glob)
	if err != nil {
		return none, err
	}
	var hits toolproto.Hits
	searched := 0
	for _, path := range paths {
		if ctx.Err() != nil {
			return none, ctx.Err()
		}
		info, err := s.root.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSearched {
			continue
		}
		data, err := s.root.ReadFile(path)
		if err != nil || isBinaryFile(data) {
			continue
		}
		searched++
		n, shown := 0, charset.ShowBytes(path)
		for line := range bytes.Lines([]byte(readStoredText(data).text)) {
			n++
			line = bytes.TrimRight(line, "\r\n")
			switch matches, err := pattern.Match(line); {
			case ctx.Err() != nil:
				return none, ctx.Err()
			case err != nil:
				return none, toolproto.Refuse(toolproto.KindArgument, "%s:%d: %v", path, n, err)
			case !matches:
				continue
			}
			text := string(line[:min(len(line), toolproto.SearchLine)])
			if len(line) > toolproto.SearchLine {
				text = strings.ToValidUTF8(text, "") + "…"
			}
			if hits.Add(shown, n, text) {
				return hits.Result(searched), nil
			}
		}
	}
	return hits.Result(searched), nil
}

func (s *Server) listFiles(ctx context.Context, r toolproto.ListFilesRequest) (toolproto.ListFilesResult, error) {
	paths, err := s.globFiles(ctx, r.Glob)
	if err != nil {
		return toolproto.ListFilesResult{}, err
	}
	for i, path := range paths {
		paths[i] = charset.ShowBytes(path)
	}
	result := toolproto.ListFilesResult{Paths: paths, Total: len(paths)}
	if len(paths) > toolproto.ListFiles {
		result.Paths, result.Truncated = paths[:toolproto.ListFiles], true
	}
	if result.Paths == nil {
		result.Paths = []string{}
	}
	return result, nil
}

// globFiles returns the matching files of the workspace, sorted. It lists files that git tracks or would track, so
// that build output and dependencies do not hide the rest. A glob without a slash matches names at any depth.
func (s *Server) globFiles(ctx context.Context, pattern string) ([]string, error) {
	if rel, ok := strings.CutPrefix(pattern, s.dir); ok && (rel == "" || rel[0] == '/') {
		pattern = strings.TrimPrefix(rel, "/") // models may also use the workspace's absolute path
	}
	match, err := globMatcher(pattern)
	if err != nil {
		return nil, err
	}
	all, err := s.listPaths(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if match(p) {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	return paths, nil
}

func (s *Server) listPaths(ctx context.Context) ([]string, error) {
	out, gitErr := s.runGit(ctx, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if gitErr == nil {
		var paths []string
		for p := range strings.SplitSeq(out, "\x00") {
			if p == "" {
				continue
			}
			// Deleted files may still be in the index.
			if _, err := s.root.Lstat(p); err == nil {
				paths = append(paths, p)
			}
		}
		return paths, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var paths []string
	err := fs.WalkDir(s.root.FS(), ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // skip an unreadable folder, but not the rest
		}
		if entry.IsDir() {
			if entry.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		paths = append(paths, p)
		return nil
	})
	return paths, err
}

func globMatcher(text string) (func(string) bool, error) {
	if len(text) > maxGlob {
		return nil, toolproto.Refuse(toolproto.KindArgument, "the glob has %d bytes; %d are allowed", len(text), maxGlob)
	}
	text = strings.TrimPrefix(text, "./")
	if text == "" || text == "." || text == "**" {
		return func(string) bool { return true }, nil
	}
	// A folder's name matches its files.
	g, err := glob.ParsePattern(strings.TrimSuffix(text, "/")+"/**", glob.Full)
	if err != nil {
		return nil, toolproto.Refuse(toolproto.KindArgument, "bad %v", err)
	}
	byName := !strings.Contains(text, "/")
	return func(path string) bool { return g.Match(path) || byName && g.Match(filepath.Base(path)) }, nil
}
