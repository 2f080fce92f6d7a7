package app

import (
	"context"

	"company/internal/gitops"
	"company/internal/office"
	"company/internal/office/config"
)

// clonesDir is the folder for clones of repositories given by address, in the state folder.
const clonesDir = "projects"

// IsAddress reports whether a name is the address of a repository, and not a path on this machine.
func IsAddress(name string) bool { return gitops.IsAddress(name) }

// OpenClone returns the office's own checkout of a repository given by address. It clones it once,
// and updates it from its remote on each call.
func OpenClone(
	ctx context.Context, off *office.Office, address, branch string, c config.Config, env func(string) (string, bool),
) (string, error) {
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
	folder, err := off.StateFolder.Sub(clonesDir)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	return gitops.OpenClone(ctx, cfg, folder, at, branch)
}
