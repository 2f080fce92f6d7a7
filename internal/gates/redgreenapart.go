package gates

import (
	"context"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// maxApart limits how many test files of one package are tried alone.
const maxApart = 8

// fewerTests is a package that does not compile on the base with all test files of a change.
type fewerTests struct {
	pkg           string
	folder        string   // relative to the gate's
	kept, dropped []string // its test files that compile there, each alone, and the others
}

// tryFilesAlone finds the test files that keep packages from compiling on the base: it runs each of a package's test
// files without the others. It returns the packages in which some files compile and some do not. Packages are
// independent of each other's test files, so one run tries a file of each.
func (r *Runner) tryFilesAlone(
	ctx context.Context, job Job, i int, c candidates, unbuilt []string,
) (found []fewerTests, err error) {
	folderTester, ok := catalog.PlanterOf(job.Gates[i].Plant).(ecosystem.FolderTester)
	if !ok {
		return nil, nil
	}
	byFolder := map[string][]string{}
	for _, p := range c.tests.own {
		dir, name := ecosystem.SplitPath(p)
		if folderTester.IsTestFile(name) && ecosystem.IsUnder(dir, job.Gates[i].Dir) {
			at := relativeTo(dir, job.Gates[i].Dir)
			byFolder[at] = append(byFolder[at], p)
		}
	}
	rounds := 0
	for _, pkg := range packagesOf(folderTester, unbuilt) {
		folder := folderOfPackage(pkg, byFolder)
		if n := len(byFolder[folder]); n > 1 && n <= maxApart {
			found, rounds = append(found, fewerTests{pkg: pkg, folder: folder}), max(rounds, n)
		}
	}
	for n := range rounds {
		alone, folders := job, []string(nil)
		var without []string
		for _, one := range found {
			files := byFolder[one.folder]
			if n < len(files) {
				folders = append(folders, one.folder)
				without = slices.Concat(without, files[:n], files[n+1:])
			}
		}
		alone.Files, alone.Gates = c.tests.listFiles(without), slices.Clone(job.Gates)
		if !alone.runReport(i, folderTester.FolderCommand(job.Gates[i].Canary, folders)) {
			return nil, nil
		}
		run, reason, err := r.runTests(ctx, alone, i, apartAttempt+n)
		if err != nil || reason != "" {
			return nil, err // the packages stay unbuilt, also where a run takes too long
		}
		broken := packagesOf(folderTester, run.unbuilt)
		for k := range found {
			one := &found[k]
			switch files := byFolder[one.folder]; {
			case n >= len(files):
			case slices.Contains(broken, one.pkg):
				one.dropped = append(one.dropped, files[n])
			default:
				one.kept = append(one.kept, files[n])
			}
		}
	}
	return slices.DeleteFunc(found, func(f fewerTests) bool { return len(f.kept) == 0 || len(f.dropped) == 0 }), nil
}

// Attempts of runs in which test files are tried alone, and of the runs of those that compile so, with which other
// runs on the base share no container's name.
const (
	fewerAttempt   = 10
	controlAttempt = 11
	apartAttempt   = 12
)

// folderOfPackage returns the folder whose tests have this package's name, by the end of the name. The gate's own
// folder stands for names that end in no other.
func folderOfPackage(pkg string, folders map[string][]string) string {
	best := "."
	for folder := range folders {
		if strings.HasSuffix(pkg, strings.TrimPrefix(folder, ".")) && len(folder) > len(best) {
			best = folder
		}
	}
	return best
}

// keepApart names the files of packages that compile without some of their test files. A test that fails there counts
// only if it passes with the change without those files too: it may need what they set up.
func (r *Runner) keepApart(
	ctx context.Context, job Job, i int, c candidates, fewer []fewerTests, seen *baseRun, out *company.RedGreen,
) (reason string, err error) {
	if len(fewer) == 0 {
		return "", nil
	}
	dropped := listDropped(fewer)
	job.Files = slices.DeleteFunc(slices.Clone(c.tests.changed),
		func(e gitops.Entry) bool { return slices.Contains(dropped, e.Path) })
	control, reason, err := r.runTests(ctx, job, i, controlAttempt)
	if err != nil || reason != "" {
		return reason, err
	}
	maps.DeleteFunc(seen.fails, func(n string, _ bool) bool { return !control.passes[n] })
	for _, one := range fewer {
		if !slices.ContainsFunc(seen.unbuilt, func(n string) bool { return nameUnit(job.Gates[i], n) == one.pkg }) {
			out.Apart = append(out.Apart, one.kept...)
			out.Unbuilt = append(out.Unbuilt, one.dropped...)
		}
	}
	return "", nil
}

// listDropped returns the test files of packages that do not compile on the base.
func listDropped(packages []fewerTests) (files []string) {
	for _, one := range packages {
		files = append(files, one.dropped...)
	}
	return files
}
