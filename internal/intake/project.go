package intake

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/config"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/safetext"
	"company/internal/secret"
)

// Project is what the config of a task's project says of its images and gates.
type Project struct {
	Image string // container.image: auto, or name@sha256:…
	// Dockerfile is container.dockerfile: a path in the repository; empty: none.
	Dockerfile string
	// Trust says which texts of it may be carried out.
	Trust config.CheckoutTrust
	Setup []string
	// SetupEnv are the variables of container.setup_env with their values.
	SetupEnv map[string]secret.Value
	Offline  bool
	Scripts  []string // packages whose install scripts may run
	Without  []string // registries that are not asked
	// Logins: the operator lets the repository use the logins to registries.
	Logins   bool
	Services []string // names in gates.services
	Lint     gates.CommandOverride
	Types    gates.CommandOverride
	Build    gates.CommandOverride
	Test     gates.CommandOverride
	Paths    []string // the folders that the task is about; none: all
}

// Projects has the settings of projects.
type Projects interface {
	// SettingsOf are those of a task's project, as they are now.
	SettingsOf(ctx context.Context, t *company.Task) (Project, error)
}

// RequestImage is what the image of a task would be asked for that began now,
// from a branch of the checkout at path ("": where its HEAD is). Nothing is made.
func (p Project) RequestImage(ctx context.Context, m *gitops.Mirror, path, base string) (image.Request, error) {
	info, err := m.FetchBase(ctx, nil, gitops.Source{Path: path}, base)
	if err != nil {
		return image.Request{}, err
	}
	return p.requestImageAt(ctx, m, info.OID, info.OID)
}

// requestImageAt is the image of a commit, with the toolchains of the one whose
// gates count.
func (p Project) requestImageAt(ctx context.Context, m *gitops.Mirror, at, detected company.OID) (image.Request, error) {
	found, err := gates.Detect(ctx, m, detected, p.gateOptions())
	if err != nil {
		return image.Request{}, err
	}
	return p.imageRequest(ctx, m, at, detected, found)
}

func (p Project) gateOptions() gates.Options {
	return gates.Options{Lint: p.Lint, Types: p.Types, Build: p.Build, Test: p.Test, Paths: p.Paths, Services: p.Services}
}

// imageRequest is the image of a commit of the project, described as in the one whose
// gates count.
func (p Project) imageRequest(ctx context.Context, m *gitops.Mirror, at, detected company.OID, found gates.Project) (image.Request, error) {
	req := image.Request{
		Base: p.Image, Toolchains: found.Toolchains, Spare: found.Spare, Unneeded: found.Unneeded, Checks: found.Gates, Services: found.Services, Setup: p.Setup, SetupEnv: p.SetupEnv, Offline: p.Offline, UseLogins: p.Logins, Scripts: p.Scripts, Without: p.Without,
		Repo: &image.Repo{MirrorDir: m.Dir(), Commit: at},
	}
	if p.Dockerfile == "" {
		return req, nil
	}
	source, err := image.ReadDockerfile(ctx, m.Dir(), detected, p.Dockerfile)
	if err != nil {
		return image.Request{}, err
	}
	if !p.Trust.CoversDockerfile(ctx, source.HashTexts()) {
		return image.Request{}, UntrustedDockerfile(p.Dockerfile, detected)
	}
	req.Dockerfile = &source
	return req, nil
}

// UntrustedDockerfile is the error for a description of an image that the president has
// not read, or that has changed since.
func UntrustedDockerfile(file string, at company.OID) error {
	return company.E(company.EConfig, fmt.Sprintf("%s of commit %.12s needs your trust", safetext.EscapeLine(file, 200), at)).
		Because("workers' images would be built from a text that you have not let count; a change needs it anew").
		Fix("read the file, then run company trust in the checkout").NeedsPerson()
}
