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
	"company/internal/config"
	mirrors "company/internal/depproxy"
	"company/internal/ecosystem/catalog"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/health"
	"company/internal/image"
	"company/internal/intake"
	"company/internal/safetext"
)

// checkPackages says what the project's files ask for and its image will not
// have, before a task finds out: packages without a lock file, a package
// manager that is not supported, a registry that needs a login, a program that
// a gate runs. Nothing is made.
func (d *Checker) checkPackages(ctx context.Context, c config.Config, repo string, p gates.Project) []health.Finding {
	if !d.needsPackages(c, p) {
		return nil
	}
	r := health.Result{OK: true, Found: "the image has what the project's lock files name"}
	seen, err := d.previewImage(ctx, c, repo, p)
	wanting := seen.Notes
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("packages", ErrorResult(err))
	}
	if missing := unknownPrograms(p.Gates, c.Container.Setup); len(missing) > 0 {
		wanting = append(wanting, "gates run "+strings.Join(missing, ", ")+", which no image has by itself")
		r.Fix = `install it with container.setup: ["apt-get update && apt-get install -y …"], or name another command with gates.lint and gates.test`
		r.Lines = installLines(missing)
	}
	if len(wanting) > 0 {
		r.OK, r.Warn, r.Found = false, true, safetext.EscapeLine(strings.Join(wanting, "; "), 600)
		if r.Fix == "" {
			r.Fix = "make it part of the project, or have it installed with container.setup"
			if strings.Contains(r.Found, "(") { // a note names its remedy there
				r.Fix = "do what stands in brackets, or have what is missing installed with container.setup"
			}
		}
	}
	for _, f := range seen.Fetched {
		r.Found += "; fetched: " + safetext.EscapeLine(f, 120)
	}
	return singleResult("packages", r)
}

// installLines are the lines of the config that install programs, where Debian's packages of all of
// them are known.
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

// needsPackages says whether packages are put into a project's image: something of the
// project runs in it, and its maker is no other.
func (*Checker) needsPackages(c config.Config, p gates.Project) bool {
	return c.Container.Dockerfile != "" || len(p.Gates)+len(p.Toolchains) > 0 && (c.Container.Image == config.Auto || c.Container.Image == "")
}

// previewImage looks at the image that a task would get now.
func (d *Checker) previewImage(ctx context.Context, c config.Config, repo string, p gates.Project) (seen image.Preview, err error) {
	m, base, done, err := gitops.View(ctx, repo, c.Git.Remote, "")
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
	b, err := image.New(cfg)
	if err != nil {
		return seen, err
	}
	defer b.Close()
	trust := config.OpenTrust(os.LookupEnv)
	req := image.Request{
		Toolchains: p.Toolchains, Spare: p.Spare, Unneeded: p.Unneeded, Checks: p.Gates, Offline: c.Container.Deps == "off", Without: c.Deps.Without, UseLogins: trust.MayUseLogins(ctx, repo),
		Repo: &image.Repo{MirrorDir: m.Dir(), Commit: base.OID},
	}
	if file := c.Container.Dockerfile; file != "" {
		source, err := image.ReadDockerfile(ctx, m.Dir(), base.OID, file)
		if err != nil {
			return seen, err
		}
		if !trust.ForCheckout(repo).CoversDockerfile(ctx, source.HashTexts()) {
			return seen, intake.UntrustedDockerfile(file, base.OID)
		}
		req.Dockerfile = &source
	}
	return b.Preview(ctx, req)
}

// basePrograms are what every image has that gates begin with, and what comes
// with a toolchain beside the programs that ask for it.
var basePrograms = strings.Fields(`sh bash make git env test true false echo printf cat cp mv rm mkdir ls find grep sed awk sort head tail tr wc xargs diff cmp
	sleep timeout exit cd set export if for while case exec source . : [ [[ { ( ! rustc rustfmt perl`)

// unknownPrograms are the programs of gates' commands that no image has, as far
// as that shows from outside. Set-up commands may install the programs that
// they name.
func unknownPrograms(all []company.GateCommand, setup []string) []string {
	var out []string
	for _, g := range all {
		if !g.Given {
			continue // a tool that was looked for by itself is left out where it is missing
		}
		word := firstWord(g.Command)
		if word == "" || strings.ContainsAny(word, "$`\"'*(){}") || slices.Contains(basePrograms, word) || gates.ToolchainOf(word) != "" || slices.Contains(out, word) ||
			slices.ContainsFunc(setup, func(s string) bool { return strings.Contains(s, word) }) || path.Base(word) != word {
			continue
		}
		out = append(out, word)
	}
	return out
}

// firstWord is the program that a command begins with.
func firstWord(command string) string {
	for w := range strings.FieldsSeq(command) {
		if w == "exec" || w == "time" || strings.Contains(w, "=") {
			continue
		}
		return strings.TrimSuffix(w, ";")
	}
	return ""
}
