package reviewer

import (
	"context"
	"fmt"
	"path"

	"company/internal/company"
	"company/internal/session"
	"company/internal/toolproto"
)

// baseTreeDir is where the tree without the change lies in a reviewer's container. It
// is on the disk of the work space and counts against workers.disk.
const baseTreeDir = "/work/base"

// baseTreeTimeout bounds making it, in seconds.
const baseTreeTimeout = 120

// layBaseTree puts the tree without the change beside the head, so that differences
// can be shown by running both. It says whether the tree is there: where it would take
// more than a quarter of the free disk it is not, and a review does without. The work
// tree is git's own, detached, so that nothing in it touches the head.
func layBaseTree(ctx context.Context, s *session.Session, base company.OID) (bool, error) {
	if s.Sandbox == nil {
		return false, nil
	}
	files, err := s.Mirror.List(ctx, base)
	if err != nil {
		return false, err
	}
	var size int64
	for _, f := range files {
		size += f.Size + 512 // the file and its place in the folder
	}
	r, err := s.Sandbox.Tools.Run(ctx, toolproto.RunRequest{Command: baseTreeCommand(baseTreeDir, base, size), TimeoutS: baseTreeTimeout})
	return err == nil && r.ExitCode == 0 && !r.Running, err
}

// baseTreeCommand makes the tree at dir, or leaves nothing of it. size is in bytes.
func baseTreeCommand(dir string, base company.OID, size int64) string {
	return fmt.Sprintf(`free=$(df -Pk %[4]s | { read -r _; read -r _ _ _ n _; echo "$n"; })
[ $((%[1]d * 4)) -le "$free" ] || exit 1
git worktree add --quiet --detach %[2]s %[3]s && exit 0
rm -rf %[2]s; git worktree prune; exit 1`, size/1024+1, dir, base, path.Dir(dir))
}

// formatBaseTree tells the reviewer of it.
func formatBaseTree(base company.OID) string {
	return fmt.Sprintf("## Without the change\nThe tree of %s lies in %s: run a command in both to show what differs. It has no packages that are linked into the repository (node_modules).\n", base.Short(), baseTreeDir)
}
