package diagnose

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/container/image/toolboxbin"
	"company/internal/gitops/gitlogin"
	"company/internal/ledger/crashes"
	"company/internal/lib/healthcheck"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
)

// checkSelf reports the program's version, and whether the program for containers is embedded.
func (d *Checker) checkSelf() []healthcheck.Finding {
	found := d.Version + ", " + runtime.Version()
	if d.Commit != "" {
		found += ", built from " + officeapp.ShortCommit(d.Commit)
	}
	box := healthcheck.Result{OK: true}
	if hash, err := toolboxbin.Hash(runtime.GOARCH); err != nil {
		box = ErrorResult(err)
		box.Needed = "a program built with make"
	} else {
		box.Found = fmt.Sprintf("for %s, %.12s", runtime.GOARCH, hash)
	}
	results := append(singleResult("company", healthcheck.Result{OK: true, Found: found}),
		healthcheck.Finding{Name: "toolbox", Result: box})
	return append(results, checkSystem(runtime.GOOS)...)
}

// checkSystem returns a warning with the limits on a system other than Linux.
func checkSystem(system string) []healthcheck.Finding {
	if system == "linux" {
		return nil
	}
	return singleResult("system", healthcheck.Result{Warn: true,
		Found: system + ": company compiles there but is untested; worker images cannot be built, because they need " +
			"Debian's mmdebstrap",
		Needed: "Linux for work; read-only commands (status, show, feed, config) run anywhere",
		Fix:    "run company on a Linux machine or in a virtual machine",
	})
}

// checkProject checks the current repository like a submission would: its base, its checks, their
// dependencies, and its forge.
func (d *Checker) checkProject(ctx context.Context, subject Subject, online bool) []healthcheck.Finding {
	cfg := subject.Config.Config
	repo := subject.Checkout
	err := subject.CheckoutErr
	if err != nil {
		if subject.PathsErr != nil {
			return singleResult("project", ErrorResult(err))
		}
		return singleResult("project",
			healthcheck.Result{Warn: true, Found: "no git repository here", Needed: "a repository to work on",
				Fix: "go into a git checkout, or name one with --repo"})
	}
	seen, err := checkRepoAs(ctx, gitlogin.New(d.Env), cfg, repo, "")
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("project", ErrorResult(err))
	}
	out := singleResult("project",
		healthcheck.Result{OK: true,
			Found: fmt.Sprintf("%s, base %s@%s (%s)", RepoName(seen.Base.RemoteURL, repo), seen.Base.Branch,
				seen.Base.OID.Short(), BaseState(cfg, seen.Base))})
	checks := healthcheck.Result{OK: true, Found: strings.Join(GateLines(seen), "; ")}
	switch {
	case seen.GatesError != nil:
		checks = ErrorResult(seen.GatesError)
	case len(seen.Project.Gates) == 0:
		checks.OK, checks.Warn = false, true
		checks.Needed = "a lint or test command; without one, merges are not checked"
		checks.Fix, checks.Lines = untestedRemedy(seen.Project), testLines(seen.Project)
	case !hasTestGate(seen.Project) && cfg.Gates.Test.Mode == config.Auto:
		checks.OK, checks.Warn = false, true
		checks.Needed = "a test command; without one, results are marked UNTESTED"
		checks.Fix, checks.Lines = untestedRemedy(seen.Project), testLines(seen.Project)
	}
	out = append(out, healthcheck.Finding{Name: "checks", Result: checks})
	out = append(out, checkProposals(cfg, seen)...)
	for _, name := range seen.Project.Toolchains {
		if r, ok := checkToolchain(ctx, name); ok {
			out = append(out, healthcheck.Finding{Name: name, Result: r})
		}
	}
	out = append(out, d.checkPackages(ctx, cfg, repo, seen.Project, online)...)
	return append(out, healthcheck.Finding{Name: "forge", Result: d.CheckForge(ctx, cfg, seen.Base.RemoteURL)})
}

// checkToolchain checks for a toolchain that a project's image takes from this host. Go must be
// installed. Node and Rust otherwise come from Debian. ok is false for all other names.
func checkToolchain(ctx context.Context, name string) (result healthcheck.Result, ok bool) {
	argv, known := map[string][]string{"go": {"go", "env", "GOVERSION"}, "node": {"node", "--version"},
		"rust": {"rustc", "--version"}}[name]
	if !known {
		return result, false
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/" // the repository cannot choose another version
	out, err := cmd.Output()
	switch {
	case err == nil:
		return healthcheck.Result{OK: true, Found: strings.TrimSpace(string(out)) + " of this host"}, true
	case name == "go":
		return healthcheck.Result{Found: "missing", Needed: "Go on this host, which the project's image copies",
			Fix: "https://go.dev/dl"}, true
	}
	return healthcheck.Result{OK: true, Found: "not on this host: the image uses Debian's"}, true
}

// lookPatience is how long doctor waits for the answer of the process that has the office. It is half
// of the time that the checks have.
const lookPatience = 900 * time.Millisecond

// checkOffice checks the office's folder, the process that has it, and its ledger. With deep it also
// verifies all stored data.
func (d *Checker) checkOffice(ctx context.Context, subject Subject, deep bool) []healthcheck.Finding {
	paths := subject.Paths
	if err := subject.PathsErr; err != nil {
		return singleResult("office", ErrorResult(err))
	}
	if dir := nearestExisting(paths.State); unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return singleResult(
			"office",
			healthcheck.Result{Found: dir + " is not writable", Needed: "a writable folder",
				Fix: "set XDG_STATE_HOME to a folder of yours; it gets the office's state"})
	}
	if !paths.Exists() {
		return singleResult("office", healthcheck.Result{OK: true, Found: "not created yet: " + paths.Root})
	}
	deadly := checkCrashes(paths)
	conn, err := d.connectInTime(ctx, paths)
	if err == nil {
		defer conn.Close()
		var found []healthcheck.Finding
		if found, err = d.checkConnected(ctx, paths, conn, deep); err == nil {
			return append(found, deadly...)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	name, result := "office", ErrorResult(err)
	if company.CodeOf(err) == company.ELedger {
		name = "ledger"
	}
	if result.Fix == "" {
		result.Fix = "see " + filepath.Join(paths.Logs, "company.log")
	}
	return append(singleResult(name, result), deadly...)
}

// connectInTime connects to an office. If a process has it that does not answer in time, the error names it.
func (d *Checker) connectInTime(ctx context.Context, paths office.Paths) (*client.Office, error) {
	if held := office.FindHolder(paths); held != nil {
		limit, cancel := context.WithTimeoutCause(ctx, lookPatience, office.HeldError(held))
		defer cancel()
		ctx = limit
	}
	return d.Connect(ctx, paths)
}

// checkConnected checks the process that has an office, and its ledger.
func (d *Checker) checkConnected(
	ctx context.Context, paths office.Paths, conn *client.Office, deep bool,
) ([]healthcheck.Finding, error) {
	server := conn.Server()
	r := healthcheck.Result{OK: true, Found: paths.Root + ", state in " + paths.State}
	if server.PID != os.Getpid() {
		r.Found += fmt.Sprintf(", in use by process %d", server.PID)
	}
	if server.Version != d.Version {
		r.OK, r.Warn = false, true
		r.Found += ", which is version " + safetext.EscapeLine(server.Version, 40)
		r.Needed = "the same version as this program, " + d.Version
		r.Fix = fmt.Sprintf("stop process %d when its work is done, then start company again", server.PID)
	}
	work, err := conn.Work(ctx)
	if err != nil {
		return nil, err
	}
	tasks, err := conn.TaskList(ctx, view.TaskFilter{})
	if err != nil {
		return nil, err
	}
	out := append(singleResult("office", r), healthcheck.Finding{Name: "ledger", Result: healthcheck.Result{OK: true,
		Found: company.Count(int(work.Seq), "event") + ", " + company.Count(len(tasks.Tasks), "task")}})
	if deep {
		out = append(out, verifyStore(ctx, conn)...)
	}
	return append(out, checkSlowness(ctx, conn, tasks)...), nil
}

// checkCrashes lists the work during which company died again and again.
func checkCrashes(paths office.Paths) []healthcheck.Finding {
	state, err := paths.Folder(paths.State)
	if err != nil {
		return nil // the check of the office has the error
	}
	defer state.Close()
	var out []healthcheck.Finding
	for _, work := range crashes.ListDeadly(state, slog.New(slog.DiscardHandler)) {
		out = append(out, healthcheck.Finding{Name: "crashes", Result: healthcheck.Result{Warn: true,
			Found:  safetext.EscapeLine(work.String(), 200),
			Needed: "a company process that does not crash",
			Fix: "see " + filepath.Join(paths.Logs, "company.log") + "; answer the question that company status shows, or " +
				"report it",
		}})
	}
	return out
}

// verifyStore verifies all stored data of an office.
func verifyStore(ctx context.Context, conn *client.Office) []healthcheck.Finding {
	verification, err := conn.Verify(ctx)
	switch {
	case ctx.Err() != nil:
		return []healthcheck.Finding{{Name: "stored data", Unknown: true,
			Result: healthcheck.Result{Found: "not verified in time", Fix: "try again while the office is idle"}}}
	case err != nil:
		return singleResult("stored data", ErrorResult(err))
	}
	out := singleResult("stored data", healthcheck.Result{OK: len(verification.Damage) == 0,
		Found: fmt.Sprintf("%s and %s (%s) verified, %s", company.Count(int(verification.Events), "event"),
			company.Count(verification.Blobs, "blob"),
			view.FormatBytes(verification.Bytes), damageCount(verification.Damage))})
	for _, damage := range verification.Damage {
		out = append(
			out, healthcheck.Finding{Name: "damaged " + damage.What,
				Result: healthcheck.Result{Found: damage.Text(), Needed: "the data as it was written", Fix: damage.Fix}})
	}
	return out
}

func damageCount(all []view.Damage) string {
	if len(all) == 0 {
		return "all intact"
	}
	return company.Count(len(all), "item") + " damaged or missing"
}

// checkSlowness reports the slow checks of the newest task that has a judged base.
func checkSlowness(ctx context.Context, conn *client.Office, tasks view.TaskList) []healthcheck.Finding {
	for _, task := range tasks.Tasks[:min(len(tasks.Tasks), slowTasks)] {
		shown, err := conn.Shown(ctx, string(task.ID))
		if err != nil || shown.Task == nil || len(shown.Task.Baseline) == 0 {
			continue
		}
		var slow []string
		for _, check := range shown.Task.Baseline {
			if check.Slow != "" {
				slow = append(slow, check.Slow)
			}
		}
		if len(slow) > 0 {
			return singleResult("slow checks", healthcheck.Result{Warn: true, Found: strings.Join(slow, "; ")})
		}
		break
	}
	return nil
}

// slowTasks is how many of the newest tasks are searched for slow checks.
const slowTasks = 10

// nearestExisting returns the nearest existing folder at or above dir.
func nearestExisting(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// checkMemory compares the workers' memory with the host's memory. A default is lowered
// automatically.
func checkMemory(loaded config.Loaded, host config.Size) healthcheck.Result {
	if host == 0 {
		return healthcheck.Result{OK: true, Found: "unknown on this system"}
	}
	workers := loaded.ForHost(config.HostResources{Memory: host}).Workers
	limit := max(1, int(host/workers.Memory))
	result := healthcheck.Result{OK: true,
		Found: fmt.Sprintf("%d MiB here, %s of %s", host>>20, company.Count(workers.Max, "worker"), workers.Memory)}
	if workers.Max > limit || workers.Memory > host {
		result.OK, result.Warn = false, true
		result.Needed = "memory for all of them at once"
		result.Fix = fmt.Sprintf("set workers.max to %d, or lower workers.memory", limit)
	}
	return result
}
