package prepare

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
	"company/internal/office/config"
)

// Project holds the config of a task's project for images and gates.
type Project struct {
	Image string // container.image: auto, or name@sha256:…
	// Dockerfile is container.dockerfile: a path in the repository. It may be empty.
	Dockerfile string
	// Trust decides which texts of the repository may be executed.
	Trust config.CheckoutTrust
	Setup []string
	// SetupEnv holds the variables of container.setup_env with their values.
	SetupEnv map[string]secret.Value
	Offline  bool
	Scripts  []string // packages whose install scripts may run
	Without  []string // registries that are not used
	// Logins means that the operator lets the repository use the registry logins.
	Logins   bool
	Services []string // names in gates.services
	Lint     gates.CommandOverride
	Types    gates.CommandOverride
	Build    gates.CommandOverride
	Test     gates.CommandOverride
	Paths    []string // folders of the task; empty means all
	// BranchPrefix is git.integration_branch. It may be empty.
	BranchPrefix string
}

// Projects returns the settings of projects.
type Projects interface {
	// SettingsOf returns the current settings of a task's project.
	SettingsOf(ctx context.Context, t *company.Task) (Project, error)
}

// RequestImage returns the image request for a task that would start now from a branch of the checkout at path. An
// empty base means the checkout's HEAD. It makes no image.
func (p Project) RequestImage(ctx context.Context, mirror *gitops.Mirror, path, base string) (image.Request, error) {
	info, err := mirror.FetchBase(ctx, nil, gitops.Source{Path: path}, base)
	if err != nil {
		return image.Request{}, err
	}
	return p.requestImageAt(ctx, mirror, info.OID, info.OID)
}

// requestImageAt returns the image request for a commit. The toolchains come from the commit whose gates count.
func (p Project) requestImageAt(
	ctx context.Context, mirror *gitops.Mirror, at, detected company.OID,
) (image.Request, error) {
	found, err := gates.Detect(ctx, mirror, detected, p.gateOptions())
	if err != nil {
		return image.Request{}, err
	}
	return p.imageRequest(ctx, mirror, at, detected, found)
}

// mayAddPackages reports whether Debian packages that are not configured may be added to the image: it must be
// company's own image with access to the network.
func (p Project) mayAddPackages() bool {
	return (p.Image == "" || p.Image == config.Auto) && p.Dockerfile == "" && !p.Offline
}

func (p Project) gateOptions() gates.Options {
	return gates.Options{Lint: p.Lint, Types: p.Types, Build: p.Build, Test: p.Test, Paths: p.Paths, Services: p.Services}
}

// imageRequest returns the image request for a commit of the project. The Dockerfile comes from the commit whose
// gates count.
func (p Project) imageRequest(
	ctx context.Context, mirror *gitops.Mirror, at, detected company.OID, found gates.Project,
) (image.Request, error) {
	req := image.Request{
		Base: p.Image, Toolchains: found.Toolchains, Spare: found.Spare, Unneeded: found.Unneeded, Checks: found.Gates,
		Services: found.Services, Setup: p.Setup, SetupEnv: p.SetupEnv, Offline: p.Offline, UseLogins: p.Logins,
		Scripts: p.Scripts, Without: p.Without,
		Repo: &image.Repo{MirrorDir: mirror.Dir(), Commit: at},
	}
	if p.Dockerfile == "" {
		return req, nil
	}
	source, err := image.ReadDockerfile(ctx, mirror.Dir(), detected, p.Dockerfile)
	if err != nil {
		return image.Request{}, err
	}
	if !p.Trust.CoversDockerfile(ctx, source.HashTexts()) {
		return image.Request{}, UntrustedDockerfile(p.Dockerfile, detected)
	}
	req.Dockerfile = &source
	return req, nil
}

// UntrustedDockerfile returns the error for a Dockerfile that the president has not read or that has changed since.
func UntrustedDockerfile(file string, at company.OID) error {
	return company.E(company.EConfig,
		fmt.Sprintf("%s of commit %.12s needs your trust", safetext.EscapeLine(file, 200), at)).
		Because("workers' images would be built from a file that you have not trusted; each change needs your trust again").
		Fix("read the file, then run company trust in the checkout").NeedsPerson()
}
