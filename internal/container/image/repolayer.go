package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// gitTimeout limits one git command.
const gitTimeout = 5 * time.Minute

// runGit runs one git command on a bare repository.
func runGit(ctx context.Context, gitDir string, stdin string, args ...string) ([]byte, error) {
	return gitOutput(ctx, gitexec.Command{GitDir: gitDir, Args: args, Stdin: strings.NewReader(stdin)})
}

func gitOutput(ctx context.Context, command gitexec.Command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	out, err := command.Output(ctx)
	if err != nil {
		return nil,
			(&company.Error{Code: company.EGit, Op: "read the repository for a worker image", Message: "git refused"}).Wrap(err)
	}
	return out, nil
}

// killGroup starts a command in its own process group. The group gets SIGTERM when the context ends,
// and the command is killed if it does not end in time.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
}

func (b *Builder) fillRepo(repo Repo) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, work string, l *layer) error {
		return packRepo(ctx, repo, work, l)
	}
}

// packRepo adds a bare repository with exactly the objects reachable from the commit: one pack and one
// branch, with HEAD on it. The repository is assembled from a pack, so that the mirror's
// configuration, hooks and other refs are not included.
func packRepo(ctx context.Context, repo Repo, work string, l *layer) error {
	temp := filepath.Join(work, "repo.git")
	if err := borrowObjects(repo.MirrorDir, filepath.Join(temp, "objects")); err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if _, err := runGit(ctx, repo.MirrorDir, "", "cat-file", "-e", string(repo.Commit)+"^{commit}"); err != nil {
		return err
	}
	pack := filepath.Join(temp, "new")
	// git writes the pack into the object folder first and then renames it. The
	// mirror may be on another file system, so use our own object folder. Files
	// next to a pack get into the layer, so disable those that only newer
	// versions of git write.
	_, err := gitOutput(ctx, gitexec.Command{
		GitDir: repo.MirrorDir, Args: []string{"pack-objects", "--revs", "--delta-base-offset", "-q", pack},
		Stdin:  strings.NewReader(string(repo.Commit) + "\n"),
		Env:    []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(temp, "objects")},
		Config: []gitexec.Setting{{"pack.writeReverseIndex", "false"}},
	})
	if err != nil {
		return err
	}
	const root = "opt/repo.git"
	for _, f := range []struct{ name, text string }{
		{"HEAD", "ref: refs/heads/" + repo.branchName() + "\n"},
		{"config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"},
	} {
		if err := l.addBytes(path.Join(root, f.name), 0o444, []byte(f.text)); err != nil {
			return err
		}
	}
	packs, err := filepath.Glob(pack + "-*")
	if err != nil || len(packs) == 0 {
		return fmt.Errorf("git wrote no pack in %s", temp)
	}
	for _, p := range packs {
		name := "pack" + strings.TrimPrefix(filepath.Base(p), "new")
		if err := l.addHostFile(path.Join(root, "objects/pack", name), 0o444, p); err != nil {
			return err
		}
	}
	return l.addBytes(path.Join(root, "refs/heads", repo.branchName()), 0o444, []byte(string(repo.Commit)+"\n"))
}

// borrowObjects creates an empty object folder that reads the objects of a mirror.
func borrowObjects(mirrorDir, objects string) error {
	if strings.Contains(mirrorDir, "\n") {
		return company.E(company.EGit, "cannot read the repository for a worker image").
			Because("the path of the office has a line break").Fix("move the repository to another folder")
	}
	info := filepath.Join(objects, "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(mirrorDir, "objects")+"\n"), 0o600)
}
