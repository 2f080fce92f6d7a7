package prepare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// newIntake makes an intake of tasks whose project has these settings.
func newIntake(t *testing.T, d company.Decider, mirrors gitops.MirrorSource, prefix string, p Project) *Intake {
	t.Helper()
	in, err := New(
		Config{Decider: d, Mirrors: mirrors, Images: noImages{}, Projects: allProjects(p), Prefix: prefix,
			Log: gitops.NewOpLog(io.Discard)})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// prepare finds the base of a task and has its image made.
func (in *Intake) prepare(t *testing.T, d company.Decider, id company.TaskID) (company.TaskPrepared, error) {
	t.Helper()
	found, err := in.FindBase(t.Context(), company.Effect{Task: id})
	if err != nil {
		return company.TaskPrepared{}, err
	}
	if _, err := d.Do(t.Context(), company.Company, found); err != nil {
		t.Fatal(err)
	}
	made, err := in.MakeImage(t.Context(), company.Effect{Task: id})
	if err != nil {
		return company.TaskPrepared{}, err
	}
	if _, err := d.Do(t.Context(), company.Company, made); err != nil {
		t.Fatal(err)
	}
	return *d.View().Tasks[id].Prepared, nil
}

// allProjects have the same settings.
type allProjects Project

func (p allProjects) SettingsOf(context.Context, *company.Task) (Project, error) {
	return Project(p), nil
}

// noImages has every image and makes none.
type noImages struct{}

func (noImages) FindLocal(_ context.Context, key string) (string, error) { return "id of " + key, nil }
func (noImages) Explain(context.Context, image.Request) (image.Explanation, error) {
	return image.Explanation{}, nil
}
func (noImages) Ensure(context.Context, image.Request) (image.Image, error) {
	return image.Image{}, errors.New("no image is made here")
}
func (noImages) KeepMade(
	ctx context.Context, _ string, _ []string, make func(context.Context) ([]byte, error),
) ([]byte, error) {
	return make(ctx)
}

func (noImages) Relock(context.Context, image.Request, []ecosystem.LockConflict) ([]ecosystem.MadeFile, error) {
	panic("no lock file is made here")
}

func (noImages) Resolve(context.Context, image.Request) (image.Resolved, error) {
	return image.Resolved{}, nil
}

// What only a person can mend is marked so, and keeps what to do.
func TestIntakeNeedsAPerson(t *testing.T) {
	for _, c := range []struct {
		name   string
		spoil  func(p *gitopstest.Project)
		base   string
		prefix string
		paths  []string
	}{
		{"no such branch", func(*gitopstest.Project) {}, "no-such-branch", "develop", nil},
		{"no commit", func(p *gitopstest.Project) { p.Git("switch", "-q", "--orphan", "empty") }, "", "develop", nil},
		{"main as the target", func(*gitopstest.Project) {}, "", "main", nil},
		{"no such folder", func(*gitopstest.Project) {}, "", "develop", []string{"services/api"}},
		{"detached without a default branch", func(p *gitopstest.Project) {
			p.Git("branch", "-q", "-m", "main", "trunk")
			p.Git("switch", "-q", "--detach")
		}, "", "develop", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := gitopstest.New(t, map[string]string{"a": "x\n"})
			c.spoil(p)
			d := decidertest.New(t)
			evs := d.Must(
				company.Submit{Instruction: "do it", Project: company.Project{ID: "project", Path: p.Dir}, Base: c.base})
			in := newIntake(t, d, p, c.prefix, Project{Paths: c.paths, Lint: gates.Auto, Test: gates.Auto})
			cmd, err := in.FindBase(t.Context(), company.Effect{Task: evs[0].Task})
			var e *company.Error
			if cmd != nil || !errors.As(err, &e) || e.Class != company.HumanRequired || e.Hint == "" {
				t.Errorf("%v, %v", cmd, err)
			}
		})
	}
}

func TestHuman(t *testing.T) {
	protected := company.E(company.EProtected, "not main").Because("rules").Fix("develop")
	var e *company.Error
	if err := markNeedsPerson(fmt.Errorf("prepare: %w", protected)); !errors.As(err, &e) ||
		e.Class != company.HumanRequired || e.Hint != "develop" || e.Why != "rules" {
		t.Errorf("%+v", e)
	}
	if protected.Class != "" {
		t.Error("the error of somebody else was changed")
	}
	for _, err := range []error{errors.New("x"), company.E(company.EGit, "the disk hiccups"), nil,
		company.E(company.EGit, "the remote could not be read").Because("The requested URL returned error: 502")} {
		if got := markNeedsPerson(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// A remote whose host cannot be reached was tried three times. It is asked about at once, and told how to go on.
func TestUnreachableRemoteIsAskedAboutAtOnce(t *testing.T) {
	for _, said := range []string{
		"fatal: unable to access 'https://git.example/a/': Could not resolve host: git.example",
		"fatal: unable to access 'https://git.example/a/': Failed to connect to git.example port 443 after 3 ms",
		"ssh: connect to host git.example port 22: Connection timed out",
	} {
		unread := company.E(company.EGit, "git.example could not be read").Because(said).Fix("check the network")
		unread.Class = company.Recoverable
		var e *company.Error
		if !errors.As(markNeedsPerson(unread), &e) || e.Class != company.HumanRequired || e.Why != said ||
			!strings.Contains(e.Hint, "nothing was changed") || !strings.Contains(e.Hint, "company approve") {
			t.Errorf("%+v", e)
		}
	}
}
