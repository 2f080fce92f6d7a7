package officeaccess

import (
	"os"
	"path/filepath"

	"company/internal/company"
	"company/internal/office"
)

// FindCheckout returns the root of the git checkout to work on: the one that the user named, else
// the one around the working directory, else the office's.
func (ent *Entrance) FindCheckout(paths office.Paths) (string, error) {
	dir := ent.RepoDir
	if dir == "" {
		dir = "."
	}
	top, err := CheckoutAt(dir)
	if err != nil && ent.RepoDir == "" && paths.Repo != "" {
		return paths.Repo, nil
	}
	return top, err
}

// CheckoutAt returns the root of the git checkout that contains a folder.
func CheckoutAt(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", company.E(company.ENotFound, "no such folder").Wrap(err).Fix("name a git checkout")
	}
	for top := dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top, nil
		}
		if top == filepath.Dir(top) {
			if bare, ok := office.FindBareRepo(dir); ok {
				return "", office.BareRepoError(bare)
			}
			return "", company.E(company.ENotFound, "there is no git repository here: "+dir).
				Fix("run company inside a git checkout, or name one with --repo or --project")
		}
	}
}
