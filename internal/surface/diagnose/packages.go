package diagnose

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem/catalog"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/healthcheck"
	"company/internal/lib/safetext"
	"company/internal/office/config"
	"company/internal/prepare"
)

// checkPackages reports dependencies that the image will lack, before a task fails on them: packages without a lock
// file, an unsupported package manager, a registry that needs a login, or a program that a gate runs. With online it
// also asks the registries that the packages come from. It creates nothing.
func (d *Checker) checkPackages(
	ctx context.Context, cfg config.Config, repo string, project gates.Project, online bool,
) []healthcheck.Finding {
	if !d.needsPackages(cfg, project) {
		return nil
	}
	result := healthcheck.Result{OK: true, Found: "the image has everything in the project's lock files"}
	seen, err := d.previewImage(ctx, cfg, repo, project)
	wanting := seen.Notes
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("packages", ErrorResult(err))
	}
	if missing := unknownPrograms(project.Gates, cfg.Container.Setup); len(missing) > 0 {
		wanting = append(wanting, "gates run "+strings.Join(missing, ", ")+", which images do not include")
		result.Fix = `install it with container.setup: ["apt-get update && apt-get install -y …"], or name another command with gates.lint and gates.test`
		result.Lines = installLines(missing)
	}
	if len(wanting) > 0 {
		result.OK = false
		result.Warn = true
		result.Found = safetext.EscapeLine(strings.Join(wanting, "; "), 600)
		if result.Fix == "" {
			result.Fix = "add it to the project, or install it with container.setup"
			if strings.Contains(result.Found, "(") { // the note has its fix in brackets
				result.Fix = "follow the hints in brackets, or install what is missing with container.setup"
			}
		}
	}
	for _, f := range seen.Fetched {
		result.Found += "; fetched: " + safetext.EscapeLine(f, 120)
	}
	findings := singleResult("packages", result)
	if online {
		findings = append(findings, d.askRegistries(ctx, cfg, repo, seen.Registries)...)
	}
	return findings
}

// installLines returns the config lines that install programs, or nil if the Debian package of any
// of them is unknown.
func installLines(programs []string) []company.ConfigLine {
	var names []string
	for _, program := range programs {
		name := catalog.PackageOfProgram(program)
		if name == "" {
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	line := company.InstallPackages(names...)
	line.Why = "gates run " + strings.Join(programs, ", ")
	return []company.ConfigLine{line}
}

// needsPackages reports whether company installs packages into the project's image. It does for a
// project's Dockerfile, or for its own image with a gate or a toolchain.
func (*Checker) needsPackages(cfg config.Config, project gates.Project) bool {
	return cfg.Container.Dockerfile != "" ||
		len(project.Gates)+len(project.Toolchains) > 0 && (cfg.Container.Image == config.Auto || cfg.Container.Image == "")
}

// previewImage describes the image that a task would use now.
func (d *Checker) previewImage(
	ctx context.Context, c config.Config, repo string, project gates.Project,
) (seen image.Preview, err error) {
	mirror, base, done, err := gitops.View(ctx, repo, c.Git.Remote, "")
	if err != nil {
		return seen, addGitHint(err)
	}
	defer done()
	cfg := image.Config{Logger: d.Logger, Daemon: officeapp.DaemonOf(c, d.Env, d.Logger).Host}
	if c.Container.Deps != "off" {
		up, err := mirrors.LoadClientSettings(ctx)
		if err != nil {
			return seen, err
		}
		dir, err := image.CacheDir("")
		if err != nil {
			return seen, err
		}
		stores, err := mirrors.OpenStores(filepath.Join(dir, "registries"), up, c.Container.Logins, nil)
		if err != nil {
			return seen, err
		}
		defer stores.Close()
		cfg.Registries, cfg.WithLogins = stores.Public(), stores.WithLogins()
	}
	builder, err := image.New(cfg)
	if err != nil {
		return seen, err
	}
	defer builder.Close()
	trust := config.OpenTrust(os.LookupEnv)
	req := image.Request{
		Toolchains: project.Toolchains, Spare: project.Spare, Unneeded: project.Unneeded, Checks: project.Gates,
		Offline: c.Container.Deps == "off",
		Without: c.Deps.Without, UseLogins: trust.MayUseLogins(ctx, repo),
		Repo: &image.Repo{MirrorDir: mirror.Dir(), Commit: base.OID},
	}
	if file := c.Container.Dockerfile; file != "" {
		source, err := image.ReadDockerfile(ctx, mirror.Dir(), base.OID, file)
		if err != nil {
			return seen, err
		}
		if !trust.ForCheckout(repo).CoversDockerfile(ctx, source.HashTexts()) {
			return seen, prepare.UntrustedDockerfile(file, base.OID)
		}
		req.Dockerfile = &source
	}
	return builder.Preview(ctx, req)
}

// basePrograms lists the programs in every image with which gate commands begin, and programs that
// a toolchain adds.
var basePrograms = strings.Fields(
	`sh bash make git env test true false echo printf cat cp mv rm mkdir ls find grep sed awk sort head tail tr wc xargs diff cmp
	sleep timeout exit cd set export if for while case exec source . : [ [[ { ( ! rustc rustfmt perl`)

// unknownPrograms returns the programs of gate commands that no image seems to have. It skips
// programs named in set-up commands, which may install them.
func unknownPrograms(gateCommands []company.GateCommand, setup []string) []string {
	var out []string
	for _, gateCommand := range gateCommands {
		if !gateCommand.Given {
			continue // a detected tool is omitted if it is missing
		}
		word := firstWord(gateCommand.Command)
		if word == "" || strings.ContainsAny(word, "$`\"'*(){}") || slices.Contains(basePrograms, word) ||
			gates.ToolchainOf(word) != "" || slices.Contains(out, word) ||
			slices.ContainsFunc(setup, func(s string) bool { return strings.Contains(s, word) }) || path.Base(word) != word {
			continue
		}
		out = append(out, word)
	}
	return out
}

// firstWord returns the program with which a command begins.
func firstWord(command string) string {
	for w := range strings.FieldsSeq(command) {
		if w == "exec" || w == "time" || strings.Contains(w, "=") {
			continue
		}
		return strings.TrimSuffix(w, ";")
	}
	return ""
}
