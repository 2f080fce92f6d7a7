package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/safetext"
)

// Base is the source of a case's repository. Exactly one of Folder, Git and Module is set.
type Base struct {
	Folder  string   // absolute path of the files
	Git     string   // address or absolute path of a repository or a bundle
	Commit  string   // full id of a commit in it
	Module  string   // path of a Go module
	Version string   // version of the module; its proxy has the files
	Without []string // paths of files and folders to leave out
	// Plant is a patch that turns the files into the base. If it is nil, the files are the base.
	Plant []byte
}

// baseKeys are the keys under base in case.yaml.
type baseKeys struct {
	Git     string   `yaml:"git"`
	Commit  string   `yaml:"commit"`
	Module  string   `yaml:"module"`
	Version string   `yaml:"version"`
	Without []string `yaml:"without"`
}

// findBase finds the source of a case's repository.
func findBase(dir string, keys *baseKeys) (base Base, err error) {
	folder := filepath.Join(dir, BaseFolder)
	info, statErr := os.Lstat(folder)
	there := statErr == nil && info.IsDir()
	switch {
	case there && keys != nil:
		return Base{}, faultOf(dir, CaseFile, "the case has two bases").
			Because("base names one, and there is a folder " + BaseFolder).Fix("take one of them away")
	case there:
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return Base{}, faultOf(dir, BaseFolder, "the folder is a repository itself").
				Fix("take .git away: its files become the base commit; or name the repository under base")
		}
		base = Base{Folder: folder}
	case keys == nil:
		return Base{}, faultOf(dir, CaseFile, "the base is missing").
			Because("there is no folder " + BaseFolder + ", and base names no repository").
			Fix("put the files of the base into " + BaseFolder +
				"/, or write base: {git: ADDRESS, commit: ID} or base: {module: PATH, version: VERSION}")
	case (keys.Git != "" || keys.Commit != "") && (keys.Module != "" || keys.Version != ""):
		return Base{}, faultOf(dir, CaseFile, "the case has two bases").Because("base names a repository and a module").
			Fix("take one of them away")
	case keys.Module != "" || keys.Version != "":
		if err := module.Check(keys.Module, keys.Version); err != nil {
			return Base{}, faultOf(dir, CaseFile, "base names no version of a Go module").
				Because(safetext.EscapeLine(err.Error(), 200)).Fix("write base: {module: github.com/owner/name, version: v1.2.3}")
		}
		base = Base{Module: keys.Module, Version: keys.Version, Without: keys.Without}
	case len(keys.Without) > 0:
		return Base{}, faultOf(dir, CaseFile, "base.without has no module").Because("it leaves out files of base.module").
			Fix("take it away, or name a commit without those files")
	default:
		if base, err = findGitBase(dir, keys); err != nil {
			return Base{}, err
		}
	}
	base.Plant, err = readBounded(filepath.Join(dir, PlantFile), maxPatch)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return base, nil
	case err != nil:
		return Base{}, faultOf(dir, PlantFile, "the patch cannot be read").Wrap(err).
			Fix("write it with git diff --binary, or take it away")
	case base.Module == "":
		return Base{}, faultOf(dir, PlantFile, "the patch has no module to change").
			Fix("change the base itself: a patch is for the files of base.module, which are not the case's own")
	}
	return base, nil
}

// findGitBase finds the git repository that a case names.
func findGitBase(dir string, keys *baseKeys) (Base, error) {
	switch {
	case keys.Git == "" || strings.HasPrefix(keys.Git, "-") || strings.ContainsAny(keys.Git, "\r\n\x00"):
		return Base{}, faultOf(dir, CaseFile, "base.git names no repository").Fix("name an address, a folder, or a bundle")
	case !company.OID(keys.Commit).Valid():
		return Base{}, faultOf(dir, CaseFile, "base.commit is not the full id of a commit").
			Because("a branch or a tag moves, and the case would be another one").Fix("git rev-parse HEAD prints it")
	}
	base := Base{Git: keys.Git, Commit: keys.Commit}
	if strings.Contains(base.Git, "://") {
		if !strings.HasPrefix(base.Git, "https://") {
			return Base{}, faultOf(dir, CaseFile, "base.git is neither an https address nor a path").
				Fix("use https://…, a folder, or a bundle")
		}
		return base, nil
	}
	if !filepath.IsAbs(base.Git) {
		base.Git = filepath.Join(dir, base.Git)
	}
	if _, err := os.Stat(base.Git); err != nil {
		return Base{}, faultOf(dir, CaseFile, "the base is missing").Wrap(err).
			Fix("base.git is a path from the folder of the case")
	}
	return base, nil
}

// fetchModule downloads the case's module with the go command, which checks its sum. It returns the module's folder in
// go's module cache.
func (l *lab) fetchModule(ctx context.Context) (string, error) {
	at := l.c.Base.Module + "@" + l.c.Base.Version
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", at)
	// A folder without a go.mod, so that no project of the user affects the command.
	cmd.Dir, cmd.Env = filepath.Dir(l.dir),
		append(slices.Clone(l.env), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-modcacherw")
	gitexec.SeparateGroup(cmd)
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) == nil && err == nil && got.Dir != "" {
		return got.Dir, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	fault := faultOf(l.c.Dir, CaseFile, "the base is missing").
		Because(safetext.EscapeLine(fmt.Sprintf("%s cannot be had: %s", at, got.Error), 400))
	return "", fault.Wrap(err).Fix("see that `go mod download -json " + at + "` works on this host")
}

// commitModule commits the files of the case's module, with the case's patch applied.
func (l *lab) commitModule(ctx context.Context) error {
	dir, err := l.fetchModule(ctx)
	if err != nil {
		return err
	}
	if _, err := l.runGit(ctx, nil, "--work-tree="+dir, "add", "-A", "-f", "."); err != nil {
		return err
	}
	if without := l.c.Base.Without; len(without) > 0 {
		args := []string{"--literal-pathspecs", "rm", "-r", "-q", "--cached", "--"}
		if _, err := l.gitCommand(nil, append(args, without...)...).Output(ctx); err != nil {
			return faultOf(l.c.Dir, CaseFile, "base.without names no file of the module").Wrap(err).
				Fix("name files and folders as git ls-files has them")
		}
	}
	if l.c.Base.Plant != nil {
		if err := l.applyPatch(ctx, PlantFile, l.c.Base.Plant); err != nil {
			return err
		}
	}
	return l.commitIndex(ctx, "", "The base", baseBranch, &l.base)
}
