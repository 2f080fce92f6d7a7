package app

import (
	"context"

	"company/internal/config"
	"company/internal/gitops"
	"company/internal/office"
)

// clonesDir is the folder of the clones that an office made of repositories by their
// addresses, in the state folder.
const clonesDir = "projects"

// IsAddress reports whether what a person names is the address of a repository, and not
// a path of this machine.
func IsAddress(name string) bool { return gitops.IsAddress(name) }

// OpenClone gives the office's own checkout of a repository that is named by its address.
// It is cloned once, and brought up to date with its remote each time.
func OpenClone(ctx context.Context, off *office.Office, address, branch string, c config.Config, env func(string) (string, bool)) (string, error) {
	at, err := gitops.ParseAddress(address)
	if err != nil {
		return "", err
	}
	cfg, err := GitConfig(off.Paths, c, env)
	if err != nil {
		return "", err
	}
	if err := off.StateFolder.Mkdir(clonesDir); err != nil {
		return "", err
	}
	in, err := off.StateFolder.Sub(clonesDir)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return gitops.OpenClone(ctx, cfg, in, at, branch)
}
