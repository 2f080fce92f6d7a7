package diagnose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/config"
	"company/internal/health"
	"company/internal/image/toolboxbin"
	"company/internal/marks"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/view"
)

// checkSelf says which program this is, and whether the program that goes into
// containers is in it.
func (d *Checker) checkSelf() []health.Finding {
	found := d.Version + ", " + runtime.Version()
	if d.Commit != "" {
		found += ", built from " + officeapp.ShortCommit(d.Commit)
	}
	box := health.Result{OK: true}
	if hash, err := toolboxbin.Hash(runtime.GOARCH); err != nil {
		box = ErrorResult(err)
		box.Needed = "a program that was built with make"
	} else {
		box.Found = fmt.Sprintf("for %s, %.12s", runtime.GOARCH, hash)
	}
	results := append(singleResult("company", health.Result{OK: true, Found: found}), health.Finding{Name: "toolbox", Result: box})
	return append(results, checkSystem(runtime.GOOS)...)
}

// checkSystem says what works on a system that company is not made for.
func checkSystem(system string) []health.Finding {
	if system == "linux" {
		return nil
	}
	return singleResult("system", health.Result{Warn: true,
		Found:  system + ": the program compiles there and was never tried; worker images cannot be made, since Debian's mmdebstrap makes them",
		Needed: "Linux, for work; commands that look (status, show, feed, config) need it not",
		Fix:    "run company on a Linux machine, or in a virtual one",
	})
}

// checkProject looks at the repository that one stands in, as a submission
// would: where it would start from, its checks, what they need, its forge.
func (d *Checker) checkProject(ctx context.Context, s Subject) []health.Finding {
	c, repo, err := s.Config.Config, s.Checkout, s.CheckoutErr
	if err != nil {
		if s.PathsErr != nil {
			return singleResult("project", ErrorResult(err))
		}
		return singleResult("project", health.Result{Warn: true, Found: "no git repository here", Needed: "one to work on", Fix: "go into a git checkout, or name one with --repo"})
	}
	seen, err := CheckRepo(ctx, c, repo, "")
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return singleResult("project", ErrorResult(err))
	}
	out := singleResult("project", health.Result{OK: true, Found: fmt.Sprintf("%s, base %s@%s (%s)", RepoName(seen.Base.RemoteURL, repo), seen.Base.Branch, seen.Base.OID.Short(), BaseState(c, seen.Base))})
	checks := health.Result{OK: true, Found: strings.Join(GateLines(seen), "; ")}
	switch {
	case seen.GatesError != nil:
		checks = ErrorResult(seen.GatesError)
	case len(seen.Project.Gates) == 0:
		checks.OK, checks.Warn = false, true
		checks.Needed = "a lint or test command, or nothing is checked before a merge"
		checks.Fix, checks.Lines = untestedRemedy(seen.Project), testLines(seen.Project)
	case !hasTestGate(seen.Project) && c.Gates.Test.Mode == config.Auto:
		checks.OK, checks.Warn = false, true
		checks.Needed = "a test command: without one, what is complete says UNTESTED"
		checks.Fix, checks.Lines = untestedRemedy(seen.Project), testLines(seen.Project)
	}
	out = append(out, health.Finding{Name: "checks", Result: checks})
	out = append(out, checkProposals(c, seen)...)
	for _, name := range seen.Project.Toolchains {
		if r, ok := checkToolchain(ctx, name); ok {
			out = append(out, health.Finding{Name: name, Result: r})
		}
	}
	out = append(out, d.checkPackages(ctx, c, repo, seen.Project)...)
	return append(out, health.Finding{Name: "forge", Result: d.CheckForge(ctx, c, seen.Base.RemoteURL)})
}

// checkToolchain looks for what the image of a project takes from this host.
// Go has to be there; Node and Rust come from Debian otherwise, as everything
// else does.
func checkToolchain(ctx context.Context, name string) (r health.Result, ok bool) {
	argv, known := map[string][]string{"go": {"go", "env", "GOVERSION"}, "node": {"node", "--version"}, "rust": {"rustc", "--version"}}[name]
	if !known {
		return r, false
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = "/" // nothing that the repository says chooses another one
	out, err := cmd.Output()
	switch {
	case err == nil:
		return health.Result{OK: true, Found: strings.TrimSpace(string(out)) + " of this host"}, true
	case name == "go":
		return health.Result{Found: "missing", Needed: "Go on this host: the project's image takes it from here", Fix: "https://go.dev/dl"}, true
	}
	return health.Result{OK: true, Found: "not on this host: the image takes Debian's"}, true
}

// lookPatience is how long doctor waits for a command that only looks at the office: half of the
// time that its checks have.
const lookPatience = 900 * time.Millisecond

// checkOffice checks the office's folder, its holder, and whether its ledger
// opens; deep: also whether all that it has stored is as it was written.
func (d *Checker) checkOffice(ctx context.Context, subject Subject, deep bool) []health.Finding {
	p, loaded := subject.Paths, subject.Config
	if err := subject.PathsErr; err != nil {
		return singleResult("office", ErrorResult(err))
	}
	if dir := nearestExisting(p.State); unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return singleResult("office", health.Result{Found: dir + " cannot be written", Needed: "a folder of yours", Fix: "take it over with chown, or use another office with --office"})
	}
	if err := office.CheckFolders(ctx, p); err != nil {
		return singleResult("office", ErrorResult(err))
	}
	if !p.Exists() {
		return singleResult("office", health.Result{OK: true, Found: "not opened yet: " + p.Root})
	}
	off, err := d.Opener.OpenFolders(ctx, p) // refuses what a repository brought, before a lock is made in it
	if err != nil {
		return singleResult("office", ErrorResult(err))
	}
	lock, held, err := office.TakeLock(ctx, p, lookPatience)
	if err != nil {
		if err := errors.Join(err, off.Close()); ctx.Err() == nil {
			return singleResult("office", ErrorResult(err))
		}
		return nil
	}
	if lock == nil {
		aside := checkSetAside(off)
		if err := off.Close(); err != nil {
			return singleResult("office", ErrorResult(err))
		}
		return append(d.checkHolder(ctx, p, held, deep), aside...)
	}
	aside := checkSetAside(off)
	free := health.Result{OK: true, Found: "free: " + p.Root}
	h, err := d.Opener.OpenOffice(ctx, off, lock, loaded)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		r := ErrorResult(err)
		if r.Fix == "" {
			r.Fix = "see " + filepath.Join(p.Logs, "company.log")
		}
		return append(append(singleResult("office", free), health.Finding{Name: "ledger", Result: r}), aside...)
	}
	s := h.View()
	var stored []health.Finding
	if deep {
		stored = verifyStore(ctx, h)
	}
	slow := checkSlowness(s, func(id company.TaskID) *company.Task { return h.FindTask(ctx, id) })
	h.Close()
	return slices.Concat(singleResult("office", free), []health.Finding{{Name: "ledger", Result: health.Result{OK: true, Found: company.Count(int(s.Seq), "event") + ", " + company.Count(len(s.Tasks)+len(s.Past), "task")}}}, stored, slow, aside)
}

// checkSetAside names the records at which company died again and again.
func checkSetAside(off *office.Office) []health.Finding {
	var out []health.Finding
	for _, death := range marks.ReadSetAside(off.StateFolder, slog.New(slog.DiscardHandler)) {
		out = append(out, health.Finding{Name: "set aside", Result: health.Result{Warn: true,
			Found:  fmt.Sprintf("%s: company died %s in a row while %s", safetext.EscapeLine(death.Owner, 64), company.Count(death.Count, "time"), safetext.EscapeLine(death.String(), 100)),
			Needed: "a company that survives the record",
			Fix:    "report it, and answer the question that company status shows; after an update, try once more",
		}})
	}
	return out
}

// verifyStore has an office, here or in another process, read all that it has stored.
func verifyStore(ctx context.Context, o interface {
	Verify(ctx context.Context) (view.Verification, error)
}) []health.Finding {
	v, err := o.Verify(ctx)
	switch {
	case ctx.Err() != nil:
		return []health.Finding{{Name: "stored data", Unknown: true, Result: health.Result{Found: "not read to its end in time", Fix: "try again while the office is not at work"}}}
	case err != nil:
		return singleResult("stored data", ErrorResult(err))
	}
	out := singleResult("stored data", health.Result{OK: len(v.Damage) == 0,
		Found: fmt.Sprintf("%s and %s (%s) read, %s", company.Count(int(v.Events), "event"), company.Count(v.Blobs, "blob"), view.FormatBytes(v.Bytes), damageCount(v.Damage))})
	for _, damage := range v.Damage {
		out = append(out, health.Finding{Name: "damaged " + damage.What, Result: health.Result{Found: damage.Text(), Needed: "what was written", Fix: damage.Fix}})
	}
	return out
}

func damageCount(all []view.Damage) string {
	if len(all) == 0 {
		return "all as it was written"
	}
	return company.Count(len(all), "thing") + " damaged or missing"
}

// checkSlowness tells which checks took long on the newest base that was judged.
func checkSlowness(s *company.State, find func(company.TaskID) *company.Task) []health.Finding {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(s.Tasks)), maps.Keys(s.Past))
	slices.SortFunc(ids, func(a, b company.TaskID) int { return b.Number() - a.Number() })
	for _, id := range ids {
		t := find(id)
		if t == nil || t.Baseline == nil {
			continue
		}
		var slow []string
		for _, c := range t.Baseline.SlowChecks() {
			slow = append(slow, c.DescribeSlow())
		}
		if len(slow) > 0 {
			return singleResult("slow checks", health.Result{Warn: true, Found: strings.Join(slow, "; ")})
		}
		break
	}
	return nil
}

// checkHolder looks at the company that has the office open.
func (d *Checker) checkHolder(ctx context.Context, p office.Paths, held *office.Holder, deep bool) []health.Finding {
	conn, err := client.Dial(ctx, held)
	if err != nil {
		return singleResult("office", ErrorResult(err))
	}
	if conn == nil {
		r := ErrorResult(office.HeldError(held))
		r.Needed = "a holder that answers"
		return singleResult("office", r)
	}
	defer conn.Close()
	r := health.Result{OK: true, Found: fmt.Sprintf("%s, at work in process %d", p.Root, held.PID)}
	if server, ok := conn.Server(); ok && server.Version != d.Version {
		r.OK, r.Warn = false, true
		r.Found += ", which is version " + safetext.EscapeLine(server.Version, 40)
		r.Needed = "the same version as this program, " + d.Version
		r.Fix = fmt.Sprintf("end process %d when its work is done, and start the company anew", held.PID)
	}
	out := singleResult("office", r)
	if deep {
		out = append(out, verifyStore(ctx, conn)...)
	}
	return out
}

// nearestExisting is the nearest folder at or above dir that is there.
func nearestExisting(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// checkMemory holds the workers to the memory that there is. A default is
// lowered by itself.
func checkMemory(l config.Loaded, host config.Size) health.Result {
	if host == 0 {
		return health.Result{OK: true, Found: "not known on this system"}
	}
	w := l.ForHost(config.HostResources{Memory: host}).Workers
	most := max(1, int(host/w.Memory))
	r := health.Result{OK: true, Found: fmt.Sprintf("%d MiB here, %s of %s", host>>20, company.Count(w.Max, "worker"), w.Memory)}
	if w.Max > most || w.Memory > host {
		r.OK, r.Warn = false, true
		r.Needed = "memory for all of them at once"
		r.Fix = fmt.Sprintf("set workers.max to %d, or lower workers.memory", most)
	}
	return r
}
