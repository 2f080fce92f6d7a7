package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/health"
	"company/internal/image"
	"company/internal/office"
)

// minFreeBytes is the free space, in bytes, below which work is likely to fail
// in its middle.
const minFreeBytes = 5 << 30

// doctorChecks are what doctor looks at, in the order in which it is shown.
func (a *app) doctorChecks(ctx context.Context, online bool) []doctorCheck {
	paths, perr := a.findOffice()
	var loaded config.Loaded
	lerr := perr
	if perr == nil {
		loaded, lerr = a.loadConfig(ctx, paths)
	}
	if lerr != nil {
		loaded.Config = config.Default()
	}
	checks := []doctorCheck{
		{"company", func(context.Context) []doctorResult { return checkSelf() }},
		{"git", checkGit},
		{"remote", func(ctx context.Context) []doctorResult { return a.checkRemote(ctx, paths, loaded.Config, online) }},
		{"docker", a.checkDocker},
		{"images", a.checkImages},
		{"registries", func(ctx context.Context) []doctorResult { return checkRegistries(ctx, loaded.Config) }},
		{"project", func(ctx context.Context) []doctorResult { return a.checkProject(ctx, paths, perr, loaded.Config) }},
		{"config", func(context.Context) []doctorResult { return singleResult("config", checkConfig(loaded, lerr)) }},
		{"models", func(ctx context.Context) []doctorResult {
			if lerr != nil {
				return singleResult("models", health.Result{Warn: true, Found: "not looked at: the config does not load"})
			}
			return a.checkModels(ctx, paths, loaded, online)
		}},
		{"office", func(ctx context.Context) []doctorResult { return a.checkOffice(ctx, paths, perr, loaded) }},
		{"memory", func(context.Context) []doctorResult {
			return singleResult("memory", checkMemory(loaded, officeapp.HostMemory()))
		}},
		{"disk", func(context.Context) []doctorResult { return singleResult("disk", checkDisk(paths, perr)) }},
	}
	if online {
		checks = append(checks, doctorCheck{"forge answers", func(ctx context.Context) []doctorResult {
			return singleResult("forge answers", a.checkForgeAccess(ctx, paths, loaded.Config))
		}})
	}
	return checks
}

// errorResult is an error as the result of a check.
func errorResult(err error) health.Result {
	var e *company.Error
	if !errors.As(err, &e) {
		return health.Result{Found: err.Error()}
	}
	found := e.Message
	if e.Why != "" {
		found += ": " + e.Why
	} else if e.Err != nil {
		found += ": " + e.Err.Error()
	}
	return health.Result{Found: found, Fix: e.Hint}
}

func checkGit(ctx context.Context) []doctorResult {
	const needed = "git 2.38 or newer (merge-tree --write-tree)"
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("git", health.Result{Found: "missing", Needed: needed, Fix: "apt-get install git"})
	}
	var major, minor int
	found := strings.TrimSpace(string(out))
	_, err = fmt.Sscanf(found, "git version %d.%d", &major, &minor)
	return singleResult("git", health.Result{OK: err == nil && (major > 2 || major == 2 && minor >= 38), Found: found, Needed: needed, Fix: "install a newer git"})
}

func (a *app) checkDocker(ctx context.Context) []doctorResult {
	rt, err := officeapp.OpenRuntime(ctx, a.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("docker", errorResult(err))
	}
	defer rt.Close()
	facts, err := rt.Check(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("docker", errorResult(err))
	}
	var out []doctorResult
	for _, f := range facts {
		out = append(out, doctorResult{Name: f.Name, Result: health.Result{OK: f.Level == container.OK, Warn: f.Level == container.Warn, Found: f.Value, Fix: f.Hint}})
	}
	return out
}

// checkImages looks whether the first task has to build the base image, and
// whether it can.
func (a *app) checkImages(ctx context.Context) []doctorResult {
	b, err := image.New(image.Config{Logger: a.log})
	if err != nil {
		return singleResult("base image", errorResult(err))
	}
	defer b.Close()
	var out []doctorResult
	for _, st := range b.Check(ctx) {
		if st.Name == "docker" {
			if !st.OK {
				return []doctorResult{{Name: "base image", Unknown: true, Result: health.Result{Found: "not looked at without Docker", Fix: "put Docker right first"}}}
			}
			continue
		}
		r := health.Result{OK: st.OK, Warn: true, Found: st.Detail, Fix: st.Hint}
		if st.Name == "base" && !st.OK {
			r.Fix = "nothing: the first task takes a minute longer"
			if _, err := exec.LookPath("mmdebstrap"); err != nil {
				r.Warn, r.Needed, r.Fix = false, "mmdebstrap to build it, or container.image: name@sha256:… to pull one", "apt-get install mmdebstrap"
			}
		}
		out = append(out, doctorResult{Name: st.Name + " image", Result: r})
	}
	if ctx.Err() != nil {
		return nil
	}
	return out
}

func checkConfig(l config.Loaded, err error) health.Result {
	if err != nil {
		return errorResult(err)
	}
	if err := l.CheckSupported(); err != nil {
		return errorResult(err)
	}
	where := "defaults alone"
	if list := configSources(l); len(list) > 0 {
		where = strings.Join(list, ", ")
	}
	return health.Result{OK: true, Found: where}
}

// checkDisk looks at the office's file system, or at that of the working
// directory where there is no office.
func checkDisk(p office.Paths, err error) health.Result {
	dir := p.Root
	if err != nil || dir == "" {
		dir = "."
	}
	dir = nearestExisting(dir)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return health.Result{Found: err.Error(), Fix: "see that " + dir + " can be read"}
	}
	free, total := st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize)
	r := health.Result{OK: free >= minFreeBytes && free >= total/10, Warn: true, Found: fmt.Sprintf("%d GiB of %d GiB free at %s", free>>30, total>>30, dir), Needed: "a tenth of the disk, and 5 GiB"}
	if !r.OK {
		r.Fix = "make room"
	}
	return r
}
