package gates

import (
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// maxShownTests limits how many tests a red-green report names.
const maxShownTests = 50

// redGreenInput holds a verdict and the commit and verdict that it is compared with.
type redGreenInput struct {
	base  company.OID        // the commit without the change
	known company.GateResult // the gates' verdict on that commit
	res   company.GateResult // the gates' verdict on the changed tree
	label string             // the owner of the containers
}

// reportRedGreen finds the tests of a change that depend on it. It runs the test gates once more on the base plus the
// change's test files, and only these tests if the runner can select them. A test that passes with the change and not
// on the base went from red to green.
//
// The result is a report, not a verdict. It states what could not be determined.
func (r *Runner) reportRedGreen(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, greenInput redGreenInput,
) (*company.RedGreen, error) {
	out := &company.RedGreen{}
	tests, err := overlayTests(ctx, mirror, greenInput.base, greenInput.res.Tree)
	if err != nil {
		return nil, err
	}
	out.Files = len(tests.own)
	if task.Settings.RedGreen == company.RedGreenRequire {
		if err := readSource(ctx, mirror, task.Prepared.Gates, greenInput, out); err != nil {
			return nil, err
		}
	}
	if out.Files == 0 {
		return out, nil
	}
	if r.Blobs == nil || task.Baseline == nil || len(greenInput.known.Checks) == 0 {
		out.Reason = "the tests of the base are not known"
		return out, nil
	}
	image, _, err := r.imageFor(ctx, task, mirror, greenInput.base)
	if err != nil {
		return nil, err
	}
	job := Job{Mirror: mirror, Tree: greenInput.res.Tree, Files: tests.listFiles(nil),
		Gates: slices.Clone(task.Prepared.Gates), Hash: task.Prepared.GateHash,
		Image: image, Label: greenInput.label, Epoch: state.Office.Epoch}
	known := false
	for i, gateCommand := range job.Gates {
		if !gateCommand.IsTest() || i >= len(greenInput.res.Checks) || i >= len(greenInput.known.Checks) ||
			i >= len(task.Baseline.Checks) ||
			greenInput.res.Checks[i].Counts == nil {
			continue
		}
		if names, err := r.readPassed(ctx, greenInput.res.Checks[i]); err != nil {
			return nil, err
		} else if len(names) == 0 && greenInput.res.Checks[i].Counts.Passed > 0 {
			continue // they are counted but have no names
		}
		known = true
		narrow, dirs := testFolders(gateCommand, tests.own)
		if narrow != nil {
			if len(dirs) == 0 {
				continue // of another module
			}
			if !job.runReport(i, narrow.FolderCommand(gateCommand.Canary, dirs)) {
				narrow = nil // all tests are run
			}
		}
		show, err := r.listCandidates(ctx, greenInput.res.Checks[i], greenInput.known.Checks[i], task.Baseline.Checks[i])
		if err != nil {
			return nil, err
		}
		if err := r.withShortTimeout(greenInput.res.Checks[i], task.Baseline.Checks[i]).runOnBase(
			ctx, job, i, candidates{show, greenInput.res.Checks[i], narrow, tests}, out); err != nil {
			return nil, err
		}
	}
	if !known {
		out.Reason = "the test gate does not say which tests it runs"
	}
	for _, names := range []*[]string{&out.Proof, &out.Idle, &out.Unbuilt, &out.Died, &out.Apart} {
		slices.Sort(*names)
		*names = (*names)[:min(len(*names), maxShownTests)]
	}
	return out, nil
}

// testFolders returns the folders of these test files, relative to the gate's folder, and the ecosystem whose runner
// can run them alone. It returns nil if it cannot.
func testFolders(gateCommand company.GateCommand, tests []string) (folderTester ecosystem.FolderTester, dirs []string) {
	folderTester, ok := catalog.PlanterOf(gateCommand.Plant).(ecosystem.FolderTester)
	if !ok {
		return nil, nil
	}
	for _, p := range tests {
		dir, name := ecosystem.SplitPath(p)
		if !folderTester.IsTestFile(name) {
			return nil, nil // test data: its place does not show which tests use it
		}
		if at := relativeTo(dir, gateCommand.Dir); ecosystem.IsUnder(dir, gateCommand.Dir) && !slices.Contains(dirs, at) {
			dirs = append(dirs, at)
		}
	}
	return folderTester, dirs
}

// listCandidates returns the tests that pass with a change and could demonstrate it, and whether each is new. A test
// that failed before, always or sometimes, or is flaky with the change, is left out.
func (r *Runner) listCandidates(
	ctx context.Context, now company.GateCheck, before ...company.GateCheck,
) (map[string]bool, error) {
	fresh, err := r.readPassed(ctx, now)
	if err != nil {
		return nil, err
	}
	unsure := now.Flaky
	for _, gateCheck := range before {
		old, err := r.readPassed(ctx, gateCheck)
		if err != nil {
			return nil, err
		}
		for n := range old {
			if _, passes := fresh[n]; passes {
				fresh[n] = false
			}
		}
		unsure = slices.Concat(unsure, testNames(gateCheck.Tests), gateCheck.Flaky)
	}
	for _, n := range unsure {
		delete(fresh, n)
	}
	return fresh, nil
}

// readPassed returns the names of the tests that passed in a check.
func (r *Runner) readPassed(ctx context.Context, gateCheck company.GateCheck) (map[string]bool, error) {
	out := map[string]bool{}
	if gateCheck.Names == "" {
		return out, nil
	}
	text, err := r.Blobs.GetBlob(ctx, gateCheck.Names)
	if err != nil {
		return nil, err
	}
	for n := range strings.SplitSeq(string(text), "\n") {
		if n != "" {
			out[n] = true
		}
	}
	return out, nil
}

// overlaidTests holds the files of a base and the test files that a change brings.
type overlaidTests struct {
	base, changed []gitops.Entry // all files without and with the change
	own           []string       // paths of test files that the change adds or changes
	gone          []string       // paths of test files that it deletes; one that was moved is among them
}

// overlayTests finds the test files of a change.
func overlayTests(ctx context.Context, mirror *gitops.Mirror, base, changed company.OID) (overlaidTests, error) {
	var tests overlaidTests
	diff, err := mirror.Diff(ctx, base, changed, 0)
	if err != nil {
		return tests, err
	}
	for _, fileChange := range diff.Changes {
		switch {
		case fileChange.NewMode == gitops.ModeGitlink || !company.IsTest(fileChange.Path):
		case fileChange.NewMode == 0:
			tests.gone = append(tests.gone, fileChange.Path)
		default:
			tests.own = append(tests.own, fileChange.Path)
		}
	}
	if len(tests.own) == 0 {
		return tests, nil
	}
	if tests.base, err = mirror.List(ctx, base); err != nil {
		return tests, err
	}
	tests.changed, err = mirror.List(ctx, changed)
	return tests, err
}

// listFiles returns the files of the base with the change's test files, except that those in without are as on the
// base.
func (t overlaidTests) listFiles(without []string) []gitops.Entry {
	own := slices.DeleteFunc(slices.Clone(t.own), func(p string) bool { return slices.Contains(without, p) })
	out := slices.DeleteFunc(slices.Clone(t.base), func(e gitops.Entry) bool {
		return slices.Contains(own, e.Path) || slices.Contains(t.gone, e.Path)
	})
	for _, entry := range t.changed {
		if slices.Contains(own, entry.Path) {
			out = append(out, entry)
		}
	}
	return out
}
