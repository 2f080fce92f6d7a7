package toolserver

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/toolbox/toolproto"
)

// markWritten records that a tool has written a file. What commands write is mostly build output, which belongs in no
// commit.
func (s *Server) markWritten(rel string) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	s.written[rel] = true
}

// listIgnored lists the untracked files that tools have written and that an ignore rule hides, each with the rule. git
// asks .gitignore and .git/info/exclude, which is empty in a fresh clone: rules that a person has outside of the
// repository do not hold here.
func (s *Server) listIgnored(ctx context.Context) ([]toolproto.IgnoredFile, error) {
	var paths []string
	s.seenMu.Lock()
	for rel := range s.written {
		// git wants no path beyond a link. The link may be new, too.
		real, err := filepath.EvalSymlinks(filepath.Join(s.dir, rel))
		if err != nil {
			continue
		}
		if rel, err = filepath.Rel(s.dir, real); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, rel)
		}
	}
	s.seenMu.Unlock()
	if len(paths) == 0 {
		return nil, nil
	}
	slices.Sort(paths)
	out, err := s.runGit(ctx, &gitRun{stdin: strings.Join(slices.Compact(paths), "\x00") + "\x00"},
		"check-ignore", "--verbose", "-z", "--stdin")
	if err != nil && !gitRefused(err) { // git refuses if it ignores none, and for a path in another repository
		return nil, err
	}
	var ignored []toolproto.IgnoredFile
	for fields := strings.Split(out, "\x00"); len(fields) > 4; fields = fields[4:] {
		if pattern := fields[2]; !strings.HasPrefix(pattern, "!") { // a rule that hides nothing
			ignored = append(ignored, toolproto.IgnoredFile{Path: fields[3], Rule: fields[0] + ":" + fields[1] + ": " + pattern})
		}
	}
	return ignored, nil
}

// adviseIgnored returns the advice about ignored files for a refusal to commit, after a separator. It returns "" if
// there are none.
func (s *Server) adviseIgnored(ctx context.Context, separator string) string {
	ignored, err := s.listIgnored(ctx)
	if err != nil || len(ignored) == 0 {
		return ""
	}
	return separator + toolproto.DescribeIgnored(ignored)
}
