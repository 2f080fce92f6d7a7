package toolserver

import (
	"context"
	"fmt"
	"strings"

	"company/internal/lib/shellquote"
	"company/internal/toolbox/toolproto"
)

// literalPaths makes git read its arguments as paths and not as patterns.
var literalPaths = []string{"GIT_LITERAL_PATHSPECS=1"}

// maxNestedRepos limits how many nested repositories a refusal names.
const maxNestedRepos = 5

// refuseNestedRepos refuses a commit with folders that are git repositories of their own, as many scaffolders make
// them. Git would commit their ids in place of their files, or refuse to add a repository without a commit. It takes
// the folders out of the index. Submodules without a work tree of their own stay as they are. args are the paths of git
// add.
func (s *Server) refuseNestedRepos(ctx context.Context, addFailed bool, args []string) error {
	var nested []string
	if addFailed {
		list := append([]string{"ls-files", "--others", "--exclude-standard", "-z"}, args...)
		out, err := s.runGit(ctx, &gitRun{env: literalPaths}, list...)
		if err != nil {
			return asRefusal(err, "")
		}
		for path := range strings.SplitSeq(out, "\x00") {
			if folder, ok := strings.CutSuffix(path, "/"); ok {
				nested = append(nested, folder)
			}
		}
	} else {
		out, err := s.runGit(ctx, nil, "diff-index", "--cached", "--no-renames", "--ignore-submodules=none", "-z", "HEAD")
		if err != nil {
			return asRefusal(err, "")
		}
		fields := strings.Split(out, "\x00")
		for i := 0; i+1 < len(fields); i += 2 {
			_, into, _ := strings.Cut(fields[i], " ")
			if _, err := s.root.Lstat(fields[i+1] + "/.git"); err == nil && strings.HasPrefix(into, "160000 ") {
				nested = append(nested, fields[i+1])
			}
		}
	}
	if len(nested) == 0 {
		return nil
	}
	if !addFailed {
		reset := append([]string{"reset", "--quiet", "--"}, nested...)
		if _, err := s.runGit(ctx, &gitRun{env: literalPaths}, reset...); err != nil {
			return asRefusal(err, "")
		}
	}
	var remove strings.Builder
	for _, folder := range nested[:min(len(nested), maxNestedRepos)] {
		fmt.Fprintf(&remove, " %s", shellquote.QuoteArgument(folder+"/.git"))
	}
	return toolproto.Refuse(toolproto.KindGit, "nothing was committed: folder %q has a git repository of its own, so its "+
		"files would not be in the commit. Ignore the folder, or remove that repository and commit again: rm -r%s",
		nested[0], remove.String())
}
