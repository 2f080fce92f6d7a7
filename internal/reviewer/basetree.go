package reviewer

import (
	"context"
	"fmt"
	"path"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// baseTreeDir is the path of the tree without the change in a reviewer's container, which the first message names. It
// is on the disk of the workspace and counts against workers.disk.
const baseTreeDir = "/work/base"

// baseTreeTimeout limits creating the base tree, in seconds.
const baseTreeTimeout = 120

// layBaseTree creates the tree without the change beside the head, so that a reviewer can run both and compare.
// It reports whether the tree exists. If the tree would take more than a quarter of the free disk, it is left
// out, and the review works without it. It is a detached git work tree, so changes in it do not affect the head.
func layBaseTree(ctx context.Context, session *agentrun.Session, base company.OID) (bool, error) {
	if session.Sandbox == nil {
		return false, nil
	}
	files, err := session.Mirror.List(ctx, base)
	if err != nil {
		return false, err
	}
	var size int64
	for _, f := range files {
		size += f.Size + 512 // the file and its directory entry
	}
	runResult, err := session.Sandbox.Tools.Run(
		ctx, toolproto.RunRequest{Command: baseTreeCommand(baseTreeDir, base, size), TimeoutS: baseTreeTimeout})
	return err == nil && runResult.ExitCode == 0 && !runResult.Running, err
}

// baseTreeCommand returns a command that creates the tree at dir, or leaves no trace of it. size is in bytes.
func baseTreeCommand(dir string, base company.OID, size int64) string {
	return fmt.Sprintf(`free=$(df -Pk %[4]s | { read -r _; read -r _ _ _ n _; echo "$n"; })
[ $((%[1]d * 4)) -le "$free" ] || exit 1
git worktree add --quiet --detach %[2]s %[3]s && exit 0
rm -rf %[2]s; git worktree prune; exit 1`, size/1024+1, dir, base, path.Dir(dir))
}
