package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/client"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
	"company/internal/safetext"
)

// resolveProject returns the repository to work on: the named project, or the
// checkout.
func (env *Environment) resolveProject(ctx context.Context, paths office.Paths, project string) (string, error) {
	switch {
	case project == "":
		return env.FindCheckout(paths)
	case env.RepoDir != "":
		return "", company.E(company.EUsage, "--project and --repo at once").Because("--repo also says where the office is").Fix("use one of them")
	}
	return env.projectPath(ctx, project)
}

// LoadReadyProject is the repository to work on and a config that it can be worked
// on with.
func (env *Environment) LoadReadyProject(ctx context.Context, paths office.Paths, project string) (string, config.Loaded, error) {
	repo, err := env.resolveProject(ctx, paths, project)
	if err != nil {
		return "", config.Loaded{}, err
	}
	loaded, err := env.loadProjectConfig(ctx, paths, repo)
	if err != nil {
		return "", config.Loaded{}, err
	}
	return repo, loaded, loaded.CheckSupported()
}

// FindCheckout is the top of the git checkout that is to be worked on: the one
// named, else the one that one stands in, else the office's.
func (env *Environment) FindCheckout(paths office.Paths) (string, error) {
	dir := env.RepoDir
	if dir == "" {
		dir = "."
	}
	top, err := CheckoutAt(dir)
	if err != nil && env.RepoDir == "" && paths.Repo != "" {
		return paths.Repo, nil
	}
	return top, err
}

// FindProject looks a project up by id, name or path; the zero record: there is
// none. A name that two have is refused.
func FindProject(all []company.ProjectRecord, arg string) (company.ProjectRecord, error) {
	var named []company.ProjectRecord
	for _, p := range all {
		if p.ID == arg {
			return p, nil
		}
		if p.Name == arg {
			named = append(named, p)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		if top, err := CheckoutAt(arg); err == nil {
			for _, p := range all {
				if p.WorkDir == top {
					return p, nil
				}
			}
		}
		return company.ProjectRecord{}, nil
	}
	var list []string
	for _, p := range named {
		list = append(list, p.ID+" at "+safetext.EscapeLine(p.WorkDir, 100))
	}
	return company.ProjectRecord{}, company.E(company.EConflict, fmt.Sprintf("%d projects are called %s", len(named), arg)).
		Because(strings.Join(list, "\n        ")).Fix("name it by its id: " + named[0].ID)
}

// projectPath is the checkout that --project names: a known project, or a
// path. What looks like a path is one.
func (env *Environment) projectPath(ctx context.Context, arg string) (string, error) {
	if strings.ContainsRune(arg, filepath.Separator) || arg == "." || arg == ".." {
		return CheckoutAt(arg)
	}
	known, conn, err := Read(ctx, env, (*client.Office).Projects)
	if err != nil {
		return "", err
	}
	conn.Close()
	p, err := FindProject(known.Projects, arg)
	if err != nil {
		return "", err
	}
	if p.ID != "" {
		return CheckoutAt(p.WorkDir)
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return CheckoutAt(arg)
	}
	e := company.E(company.ENotFound, "there is no project "+safetext.EscapeLine(arg, 80))
	var names []string
	for _, p := range known.Projects {
		names = append(names, p.Name)
	}
	if len(names) > 0 {
		e = e.Because("there are: " + strings.Join(names, ", "))
	}
	return "", e.Fix("company project list shows them; --project takes a path, too")
}

// CheckoutAt is the top of the git checkout that a folder is in.
func CheckoutAt(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", company.E(company.ENotFound, "there is no such folder").Wrap(err).Fix("name a git checkout")
	}
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top, nil
		}
		if top == filepath.Dir(top) {
			if bare, ok := office.FindBareRepo(dir); ok {
				return "", office.BareRepoError(bare)
			}
			return "", company.E(company.ENotFound, "there is no git repository here: "+dir).Fix("run company inside a git checkout, or name one with --repo or --project")
		}
	}
}
