package diagnose

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/container"
	"company/internal/container/image"
	"company/internal/lib/healthcheck"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
)

// Limits for free space on the office's disk, in bytes. Below the first, an image build or a clone
// is likely to fail midway. Below the second, it may fail soon.
const (
	leastFree  = 2 << 30
	enoughFree = 10 << 30
)

// Options select how thorough the checks are.
type Options struct {
	Online bool // send requests to servers
	Deep   bool // read the whole ledger and every blob
}

// Timeout returns the time limit for all checks together.
func (o Options) Timeout() time.Duration {
	switch {
	case o.Deep:
		return 2 * time.Hour // to read the whole store
	case o.Online:
		return 20 * time.Second // for a model, a forge, and a remote that needs a login
	}
	return 10 * time.Second // for git and the project's files on a busy machine; usually a tenth of it is enough
}

// Checks returns the checks of doctor in display order.
func (d *Checker) Checks(subject Subject, options Options) []Check {
	paths := subject.Paths
	loaded := subject.Config
	online := options.Online
	checks := []Check{
		{"company", func(context.Context) []healthcheck.Finding { return d.checkSelf() }},
		{"git", checkGit},
		{"programs", checkPrograms},
		{"remote", func(ctx context.Context) []healthcheck.Finding {
			return d.checkRemote(ctx, paths, loaded.Config, online)
		}},
		{"docker", func(ctx context.Context) []healthcheck.Finding { return checkDocker(ctx, d.daemonOf(loaded)) }},
		{"images", func(ctx context.Context) []healthcheck.Finding { return checkImages(ctx, d.daemonOf(loaded)) }},
		{"registries", func(ctx context.Context) []healthcheck.Finding {
			return checkRegistries(ctx, loaded.Config, online)
		}},
		{"project", func(ctx context.Context) []healthcheck.Finding { return d.checkProject(ctx, subject, online) }},
		{"config", func(context.Context) []healthcheck.Finding {
			return singleResult("config", checkConfig(loaded, subject.ConfigErr))
		}},
		{"models", func(ctx context.Context) []healthcheck.Finding {
			switch {
			case subject.isNowhere():
				return singleResult("models", healthcheck.Result{Warn: true, Found: "not checked: no repository"})
			case subject.ConfigErr != nil:
				return singleResult("models", healthcheck.Result{Warn: true, Found: "not checked: the config does not load"})
			}
			return d.checkModels(ctx, paths, loaded, online)
		}},
		{"office", func(ctx context.Context) []healthcheck.Finding { return d.checkOffice(ctx, subject, options.Deep) }},
		{"format", func(context.Context) []healthcheck.Finding {
			return singleResult("format", checkFormat(office.ReadFormat(paths)))
		}},
		{"memory", func(context.Context) []healthcheck.Finding {
			return singleResult("memory", checkMemory(loaded, officeapp.HostMemory()))
		}},
		{"disk", func(context.Context) []healthcheck.Finding {
			return singleResult("disk", checkDisk(paths, subject.PathsErr))
		}},
	}
	if subject.isNowhere() { // the check of the project has the one reason
		ofOffice := []string{"config", "office", "format"}
		checks = slices.DeleteFunc(checks, func(c Check) bool { return slices.Contains(ofOffice, c.name) })
	}
	if online {
		checks = append(checks, Check{"forge answers", func(ctx context.Context) []healthcheck.Finding {
			return singleResult("forge answers", d.checkForgeAccess(ctx, paths, loaded.Config))
		}})
	}
	return checks
}

// ErrorResult converts an error into the result of a check.
func ErrorResult(err error) healthcheck.Result {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return healthcheck.Result{Found: err.Error()}
	}
	found := fault.Message
	if fault.Why != "" {
		found += ": " + fault.Why
	} else if fault.Err != nil {
		found += ": " + fault.Err.Error()
	}
	return healthcheck.Result{Found: found, Fix: fault.Hint}
}

func checkGit(ctx context.Context) []healthcheck.Finding {
	const needed = "git 2.38 or newer (merge-tree --write-tree)"
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("git", healthcheck.Result{Found: "missing", Needed: needed, Fix: "apt-get install git"})
	}
	var major, minor int
	found := strings.TrimSpace(string(out))
	_, err = fmt.Sscanf(found, "git version %d.%d", &major, &minor)
	return singleResult(
		"git", healthcheck.Result{OK: err == nil && (major > 2 || major == 2 && minor >= 38), Found: found, Needed: needed,
			Fix: "install a newer git"})
}

// programLimit is how long a program may take to print its version.
const programLimit = 3 * time.Second

// checkPrograms reports optional programs with their versions. None is needed.
func checkPrograms(ctx context.Context) []healthcheck.Finding {
	var found []string
	result := healthcheck.Result{OK: true, Needed: "optional: tmux 3.3, codex, claude"}
	for _, name := range []string{"tmux", "codex", "claude"} {
		text, good := describeProgram(ctx, name)
		if !good {
			result.OK, result.Warn = false, true
		}
		found = append(found, text)
	}
	if ctx.Err() != nil {
		return nil
	}
	result.Found = strings.Join(found, ", ")
	return singleResult("programs", result)
}

// describeProgram returns what a program says of its version, and whether it can be used.
func describeProgram(ctx context.Context, name string) (text string, good bool) {
	if _, err := exec.LookPath(name); err != nil {
		return name + " not installed", false
	}
	ctx, cancel := context.WithTimeout(ctx, programLimit)
	defer cancel()
	flag := "--version"
	if name == "tmux" {
		flag = "-V"
	}
	out, err := exec.CommandContext(ctx, name, flag).Output()
	text, _, _ = strings.Cut(strings.TrimSpace(safetext.Escape(string(out))), "\n")
	if err != nil {
		return name + " does not tell its version", false
	}
	if name != "tmux" {
		return text, true
	}
	var major, minor int
	_, err = fmt.Sscanf(text, "tmux %d.%d", &major, &minor)
	return text, err == nil && (major > 3 || major == 3 && minor >= 3)
}

// daemonOf returns the Docker daemon of a config, which may not be loaded.
func (d *Checker) daemonOf(l config.Loaded) officeapp.Daemon {
	return officeapp.DaemonOf(l.Config, d.Env, d.Logger)
}

func checkDocker(ctx context.Context, daemon officeapp.Daemon) []healthcheck.Finding {
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
	var out []healthcheck.Finding
	for _, fact := range facts {
		out = append(
			out, healthcheck.Finding{Name: fact.Name,
				Result: healthcheck.Result{OK: fact.Level == container.OK, Warn: fact.Level == container.Warn, Found: fact.Value,
					Fix: fact.Hint}})
	}
	return out
}

// checkImages checks whether the first task must build the base image, and whether the build is
// possible.
func checkImages(ctx context.Context, daemon officeapp.Daemon) []healthcheck.Finding {
	builder, err := image.New(image.Config{Logger: daemon.Logger, Daemon: daemon.Host})
	if err != nil {
		return singleResult("base image", ErrorResult(err))
	}
	defer builder.Close()
	var out []healthcheck.Finding
	for _, st := range builder.Check(ctx) {
		if st.Name == "docker" {
			if !st.OK {
				return []healthcheck.Finding{{Name: "base image", Unknown: true,
					Result: healthcheck.Result{Found: "not checked: it needs Docker", Fix: "fix Docker first"}}}
			}
			continue
		}
		result := healthcheck.Result{OK: st.OK, Warn: true, Found: st.Detail, Fix: st.Hint}
		if st.Name == "base" && !st.OK {
			result.Fix = "nothing: the first task takes a minute longer"
			if _, err := exec.LookPath("mmdebstrap"); err != nil {
				result.Warn = false
				result.Needed = "mmdebstrap to build it, or container.image: name@sha256:… to pull one"
				result.Fix = "apt-get install mmdebstrap"
			}
		}
		out = append(out, healthcheck.Finding{Name: st.Name + " image", Result: result})
	}
	if ctx.Err() != nil {
		return nil
	}
	return out
}

func checkConfig(loaded config.Loaded, err error) healthcheck.Result {
	if err != nil {
		result := ErrorResult(err)
		result.Found, _, _ = strings.Cut(result.Found, "\n    ") // the line that is not YAML needs a screen's columns
		return result
	}
	if err := loaded.CheckKeyFiles(); err != nil {
		return ErrorResult(err)
	}
	where := "defaults only"
	if list := loaded.Sources(); len(list) > 0 {
		where = strings.Join(list, ", ")
	}
	return healthcheck.Result{OK: true, Found: where}
}

// checkFormat reports whether the office's records have a format that this version reads.
func checkFormat(format office.Format) healthcheck.Result {
	if format.Stored == 0 {
		return healthcheck.Result{OK: true, Found: "no office yet"}
	}
	if err := format.RequireNewest(); err != nil {
		return ErrorResult(err)
	}
	return healthcheck.Result{OK: true, Found: fmt.Sprintf("%d, no migration is pending", format.Stored)}
}

// checkDisk checks the file system of the office. Without an office it checks that of the working
// directory.
func checkDisk(p office.Paths, err error) healthcheck.Result {
	dir := p.Root
	if err != nil || dir == "" {
		dir = "."
	}
	dir = nearestExisting(dir)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return healthcheck.Result{Found: err.Error(), Fix: "make " + dir + " readable"}
	}
	return judgeDisk(st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize), dir)
}

// judgeDisk returns the result for the number of free bytes on the disk that holds dir.
func judgeDisk(free, total uint64, dir string) healthcheck.Result {
	result := healthcheck.Result{OK: free >= enoughFree, Warn: free >= leastFree, Needed: "10 GiB free, at the very least 2 GiB",
		Found: fmt.Sprintf("%.1f GiB of %d GiB free at %s", float64(free)/(1<<30), total>>30, dir)}
	if !result.OK {
		result.Fix = "free some space; company cleanup --dry-run lists what company itself can remove"
	}
	return result
}
