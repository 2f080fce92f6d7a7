package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/office"
)

// benchCommands measures commands as whole processes, in an office with forty
// tasks that no company is at work on: the one that a person has in the morning.
func benchCommands(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	dir := filepath.Join(w.dir, "cli")
	repo := filepath.Join(dir, "repo")
	if err := errors.Join(os.MkdirAll(repo, 0o700), os.Mkdir(filepath.Join(dir, "run"), 0o700)); err != nil {
		return nil, err
	}
	if _, err := runGit(ctx, repo, nil, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	if err := fillOffice(ctx, w, repo, 40); err != nil {
		return nil, err
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run")}
	spent := map[string][]time.Duration{} // processor time, by the command's name
	run := func(args ...string) func() (time.Duration, error) {
		return timeFunc(func() error {
			cmd := exec.CommandContext(ctx, w.Program, args...)
			cmd.Dir, cmd.Env = repo, env
			if out, err := cmd.CombinedOutput(); err != nil {
				return company.E(company.EInternal, fmt.Sprintf("company %v failed", args)).Because(string(out)).Wrap(err)
			}
			spent[args[0]] = append(spent[args[0]], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			return nil
		})
	}
	commands := []struct {
		what string
		args []string
		most float64
	}{
		{"--help", []string{"--help"}, 25},
		{"status, nobody at work", []string{"status"}, 60},
		{"completion of an id", []string{"__complete", "show", "t"}, 80},
	}
	fns := []func() (time.Duration, error){run("version")}
	for _, c := range commands {
		fns = append(fns, run(c.args...))
	}
	got, err := takeSamples(ctx, w.sampleCount(40, 1), fns...)
	if err != nil {
		return nil, err
	}
	for i, c := range commands {
		line := compareLine(c.what, "company version", got[i+1], got[0])
		lines = append(lines, line.withTarget(fmt.Sprintf("≤ %g ms", c.most), line.Ours <= c.most))
	}
	// The processor's time, git's included, says on a busy machine, too, what became
	// quicker.
	for _, c := range commands {
		lines = append(lines, compareLine(c.what+", processor time", "company version", spent[c.args[0]], spent["version"]))
	}
	return lines, nil
}

// fillOffice makes the office of a checkout, with tasks that were cancelled.
func fillOffice(ctx context.Context, w *benchEnv, repo string, tasks int) (err error) {
	paths, err := office.Find(office.FindOptions{Dir: repo})
	if err != nil {
		return err
	}
	off, err := office.Open(ctx, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	b, err := nats.Open(ctx, nats.Options{Folder: off.BusFolder, Logger: w.Logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	l, err := ledger.Open(ctx, b, ledger.Options{Folder: off.StateFolder, Logger: w.Logger})
	if err != nil {
		return err
	}
	s, n := company.NewState(), 0
	do := func(actor string, c company.Command) error {
		n++
		id, now := fmt.Sprintf("bench-%d", n), time.Now().UTC()
		drafts, err := company.Decide(s, company.Meta{ID: id, Actor: actor, Now: now}, c)
		if err != nil {
			return err
		}
		events, err := l.Append(ctx, ledger.Command{ID: id}, now, drafts)
		for _, e := range events {
			err = errors.Join(err, company.Apply(s, e))
		}
		return err
	}
	if err := do(company.Company, company.StartOffice{Office: off.ID, Version: "bench"}); err != nil {
		return err
	}
	for range tasks {
		submit := company.Submit{Instruction: "measure the time of a command",
			Project: company.Project{ID: "bench", Path: repo}}
		if err := do(company.President, submit); err != nil {
			return err
		}
		if err := do(company.President,
			company.Cancel{Task: company.NewTaskID(s.LastTask), Why: "it was for the bench"}); err != nil {
			return err
		}
	}
	return nil
}
