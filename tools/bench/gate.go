package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops"
)

// gatePackages is how many packages of a thousand lines the module of the bench has. Ten of
// them each are a chain, in which one imports the next.
const gatePackages = 100

// gateProject is a module in a mirror, with a change of one line, and the image and the
// tests of its base.
type gateProject struct {
	w             *benchEnv
	mirror        *gitops.Mirror
	base, changed company.OID
	gates         []company.GateCommand
	image         image.Image
	runner        *gates.Runner
	baseline      company.GateResult
}

// benchGate measures the gate of a large module of Go after a change of one line, in an image
// that has what compiled of its base: the packages that the change can reach, as before a
// review, and all of them, as before a merge; both against the gate of the base.
func benchGate(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	packages := w.sampleCount(gatePackages, 10)
	p, err := w.openGateProject(ctx, packages)
	if p != nil {
		defer func() { err = errors.Join(err, p.dropImage(context.WithoutCancel(ctx))) }()
	}
	if err != nil {
		return nil, err
	}
	if p.baseline, err = p.judgeCommit(ctx, p.base, true, ""); err != nil {
		return nil, err
	}
	part := ""
	got, err := takeSamples(ctx, w.sampleCount(3, 1),
		timeFunc(func() error { _, err := p.judgeCommit(ctx, p.base, true, ""); return err }),
		timeFunc(func() error {
			r, err := p.judgeCommit(ctx, p.changed, false, p.base)
			if err == nil && len(r.FirstSteps()) != 1 {
				return company.E(company.EInternal, "the gate after a small change ran all")
			}
			if err == nil {
				part = r.FirstSteps()[0].String()
			}
			return err
		}),
		timeFunc(func() error { _, err := p.judgeCommit(ctx, p.changed, false, ""); return err }),
	)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d,000 lines, ", packages)
	step := secondsLine(what+"gate after a change of one", "of the base", got[1], got[0])
	step.Note = part
	return []Line{step.withTarget("≤ 10 s", step.Ours <= 10),
		secondsLine(what+"all of it, before the merge", "of the base", got[2], got[0])}, nil
}

// secondsLine is compareLine in seconds.
func secondsLine(what, against string, ours, bare []time.Duration) Line {
	l := compareLine(what, against, ours, bare)
	l.Unit, l.Ours, l.Bare = "s", l.Ours/1000, l.Bare/1000
	return l
}

// openGateProject makes the module, its change, and its image. It returns what it made, also
// with an error.
func (w *benchEnv) openGateProject(ctx context.Context, packages int) (*gateProject, error) {
	repo := filepath.Join(w.dir, "gate")
	if err := writeModule(repo, packages); err != nil {
		return nil, err
	}
	if err := commitFirst(ctx, repo, w.office); err != nil {
		return nil, err
	}
	file := filepath.Join(repo, packageName(5), "f1.go")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), "total += 1\n", "total += 1 + 0\n", 1)), 0o600)
	}
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"switch", "-q", "-c", "changed"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-a", "-m", "a line"}} {
		if _, err := runGit(ctx, repo, nil, args...); err != nil {
			return nil, err
		}
	}
	p := &gateProject{w: w}
	store, err := gitops.Open(gitops.Config{Root: filepath.Join(w.dir, "gate-git")})
	if err != nil {
		return nil, err
	}
	if p.mirror, err = store.Mirror(ctx, "gate", repo); err != nil {
		return nil, err
	}
	for branch, at := range map[string]*company.OID{"main": &p.base, "changed": &p.changed} {
		info, err := p.mirror.FetchBase(ctx, nil, gitops.Source{Path: repo}, branch)
		if err != nil {
			return nil, err
		}
		*at = info.OID
	}
	found, err := gates.Detect(ctx, p.mirror, p.base,
		gates.Options{Lint: gates.None, Types: gates.None, Build: gates.None})
	if err != nil {
		return nil, err
	}
	p.gates = found.Gates
	p.image, err = w.images.Ensure(
		ctx, image.Request{Toolchains: found.Toolchains, Checks: p.gates,
			Repo: &image.Repo{MirrorDir: p.mirror.Dir(), Commit: p.base}})
	if err == nil && (len(p.gates) != 1 || len(p.image.Notes) > 0) {
		err = company.E(company.EImage, "the image to measure with lacks something").
			Because(strings.Join(p.image.Notes, "; "))
	}
	if err == nil {
		p.runner, err = gates.NewRunner(gates.Runner{Runtime: w.rt, Office: w.office, Logger: w.Logger, FirstStepAfter: 1})
	}
	return p, err
}

// judgeCommit runs the gate on a commit, which must be green.
func (p *gateProject) judgeCommit(
	ctx context.Context, commit company.OID, baseline bool, since company.OID,
) (company.GateResult, error) {
	tree, err := p.mirror.Tree(ctx, commit)
	if err != nil {
		return company.GateResult{}, err
	}
	p.w.n++
	j := gates.Job{Mirror: p.mirror, Tree: tree, Since: since, Gates: p.gates, Hash: gates.HashGates(p.gates),
		Image: gates.ImageByID(p.image.ID),
		Label: fmt.Sprintf("t1-%02d", p.w.n), Epoch: 1, Baseline: baseline}
	if !baseline {
		j.BaselineResult = &p.baseline
	}
	r, err := p.runner.Run(ctx, j)
	if err == nil && !r.Passed {
		err = company.E(company.EInternal, "the module to measure with is red").Because(r.Checks[0].Output)
	}
	return r, err
}

// dropImage removes the layers that are of the module.
func (p *gateProject) dropImage(ctx context.Context) error {
	mine := func(e image.ImageEntry) bool {
		if len(e.Layers) == 0 {
			return false
		}
		top := e.Layers[len(e.Layers)-1]
		return slices.Contains(p.image.Layers, top) && !slices.Contains(keptLayers, top.Kind)
	}
	if _, err := p.w.images.Prune(ctx, mine); err != nil {
		return err
	}
	left, err := p.w.images.List(ctx)
	if i := slices.IndexFunc(left, mine); err == nil && i >= 0 {
		err = company.E(company.EDocker, "the bench left the image "+left[i].Tag).Fix("docker rmi " + left[i].Tag)
	}
	return err
}

func packageName(n int) string { return fmt.Sprintf("pkg%02d", n) }

// writeModule writes a module of so many packages of a thousand lines, always the same: nine
// files of source and one of tests in each.
func writeModule(repo string, packages int) error {
	all := map[string]string{"go.mod": "module example.org/large\n\ngo 1.24\n"}
	for n := range packages {
		name := packageName(n)
		below, use := "", "n"
		if n%10 > 0 {
			below = "import \"example.org/large/" + packageName(n-1) + "\"\n\n"
			use = packageName(n-1) + ".F1of1(n % 7)"
		}
		for f := range 9 {
			var text strings.Builder
			fmt.Fprintf(&text, "package %s\n\n", name)
			if f == 1 {
				text.WriteString(below)
			}
			for i := range 11 {
				own := "n"
				if f == 1 && i == 1 {
					own = use
				}
				fmt.Fprintf(&text, "// F%dof%d adds up.\nfunc F%dof%d(n int) int {\n\ttotal := %s\n\tfor i := range n %% %d "+
					"{\n\t\ttotal += i * %d\n\t}\n\ttotal += %d\n\treturn total\n}\n", i, f, i, f, own, 3+i, 1+f, i)
			}
			all[fmt.Sprintf("%s/f%d.go", name, f)] = text.String()
		}
		var tests strings.Builder
		fmt.Fprintf(&tests, "package %s\n\nimport \"testing\"\n", name)
		for i := range 10 {
			fmt.Fprintf(&tests, "\nfunc Test%d(t *testing.T) {\n\tfor f, add := range []func(int) int{F%[1]dof0, F%[1]dof1, "+
				"F%[1]dof2, F%[1]dof3, F%[1]dof4, F%[1]dof5, F%[1]dof6, F%[1]dof7, F%[1]dof8} {\n\t\tif got := add(0); got < 0 "+
				"{\n\t\t\tt.Error(f, got)\n\t\t}\n\t}\n}\n", i)
		}
		all[name+"/all_test.go"] = tests.String()
	}
	for name, text := range all {
		at := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}
