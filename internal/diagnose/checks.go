package diagnose

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/health"
	"company/internal/image"
	"company/internal/office"
)

// Free space of the office's disk, in bytes: below the first an image or a clone is likely to
// fail in its middle, below the second it soon may.
const (
	leastFree  = 2 << 30
	enoughFree = 10 << 30
)

// Options say how far the checks go.
type Options struct {
	Online bool // servers are asked
	Deep   bool // the whole ledger and every blob are read
}

// Timeout is how long all checks together may take.
func (o Options) Timeout() time.Duration {
	switch {
	case o.Deep:
		return 2 * time.Hour // of reading
	case o.Online:
		return 20 * time.Second // a model, a forge, and a remote that is logged in at
	}
	return 1800 * time.Millisecond
}

// Checks are the checks of doctor, in the order in which they are shown.
func (d *Checker) Checks(s Subject, o Options) []Check {
	paths, loaded, online := s.Paths, s.Config, o.Online
	checks := []Check{
		{"company", func(context.Context) []health.Finding { return d.checkSelf() }},
		{"git", checkGit},
		{"remote", func(ctx context.Context) []health.Finding { return d.checkRemote(ctx, paths, loaded.Config, online) }},
		{"docker", func(ctx context.Context) []health.Finding { return checkDocker(ctx, d.daemonOf(loaded)) }},
		{"images", func(ctx context.Context) []health.Finding { return checkImages(ctx, d.daemonOf(loaded)) }},
		{"registries", func(ctx context.Context) []health.Finding { return checkRegistries(ctx, loaded.Config) }},
		{"project", func(ctx context.Context) []health.Finding { return d.checkProject(ctx, s) }},
		{"config", func(context.Context) []health.Finding {
			return singleResult("config", checkConfig(loaded, s.ConfigErr))
		}},
		{"models", func(ctx context.Context) []health.Finding {
			if s.ConfigErr != nil {
				return singleResult("models", health.Result{Warn: true, Found: "not looked at: the config does not load"})
			}
			return d.checkModels(ctx, paths, loaded, online)
		}},
		{"office", func(ctx context.Context) []health.Finding { return d.checkOffice(ctx, s, o.Deep) }},
		{"memory", func(context.Context) []health.Finding {
			return singleResult("memory", checkMemory(loaded, officeapp.HostMemory()))
		}},
		{"disk", func(context.Context) []health.Finding { return singleResult("disk", checkDisk(paths, s.PathsErr)) }},
	}
	if online {
		checks = append(checks, Check{"forge answers", func(ctx context.Context) []health.Finding {
			return singleResult("forge answers", d.checkForgeAccess(ctx, paths, loaded.Config))
		}})
	}
	return checks
}

// ErrorResult is an error as the result of a check.
func ErrorResult(err error) health.Result {
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

func checkGit(ctx context.Context) []health.Finding {
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

// daemonOf is the Docker daemon of a config, which may not have been loaded.
func (d *Checker) daemonOf(l config.Loaded) officeapp.Daemon {
	return officeapp.DaemonOf(l.Config, d.Env, d.Logger)
}

func checkDocker(ctx context.Context, daemon officeapp.Daemon) []health.Finding {
	rt, err := daemon.OpenRuntime(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("docker", ErrorResult(err))
	}
	defer rt.Close()
	facts, err := rt.Check(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("docker", ErrorResult(err))
	}
	var out []health.Finding
	for _, f := range facts {
		out = append(out, health.Finding{Name: f.Name, Result: health.Result{OK: f.Level == container.OK, Warn: f.Level == container.Warn, Found: f.Value, Fix: f.Hint}})
	}
	return out
}

// checkImages looks whether the first task has to build the base image, and
// whether it can.
func checkImages(ctx context.Context, daemon officeapp.Daemon) []health.Finding {
	b, err := image.New(image.Config{Logger: daemon.Logger, Daemon: daemon.Host})
	if err != nil {
		return singleResult("base image", ErrorResult(err))
	}
	defer b.Close()
	var out []health.Finding
	for _, st := range b.Check(ctx) {
		if st.Name == "docker" {
			if !st.OK {
				return []health.Finding{{Name: "base image", Unknown: true, Result: health.Result{Found: "not looked at without Docker", Fix: "put Docker right first"}}}
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
		out = append(out, health.Finding{Name: st.Name + " image", Result: r})
	}
	if ctx.Err() != nil {
		return nil
	}
	return out
}

func checkConfig(l config.Loaded, err error) health.Result {
	if err != nil {
		return ErrorResult(err)
	}
	if err := l.CheckKeyFiles(); err != nil {
		return ErrorResult(err)
	}
	where := "defaults alone"
	if list := l.Sources(); len(list) > 0 {
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
	return judgeDisk(st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize), dir)
}

// judgeDisk judges the free bytes of a disk that holds dir.
func judgeDisk(free, total uint64, dir string) health.Result {
	r := health.Result{OK: free >= enoughFree, Warn: free >= leastFree, Needed: "10 GiB, and never less than 2",
		Found: fmt.Sprintf("%.1f GiB of %d GiB free at %s", float64(free)/(1<<30), total>>30, dir)}
	if !r.OK {
		r.Fix = "make room there; company cleanup --dry-run lists what company itself could give back"
	}
	return r
}
