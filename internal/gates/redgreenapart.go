package gates

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// maxFewerRuns limits how often the tests are run on the base without files that do not compile there.
const maxFewerRuns = 3

// fewerTests is a package that compiles on the base only without some test files of a change.
type fewerTests struct {
	pkg           string
	kept, dropped []string // its test files of the change
}

// dropNamed drops the files that are named in the output of a build which failed. It reports whether there were any.
func (f *fewerTests) dropNamed(output, dir string) bool {
	before := len(f.kept)
	f.kept = slices.DeleteFunc(f.kept, func(file string) bool {
		at := regexp.QuoteMeta(strings.TrimPrefix(relativeTo(file, dir), "./"))
		named := regexp.MustCompile(`(?m)(?:^| )(?:\./)?` + at + `:\d`).MatchString(output)
		if named {
			f.dropped = append(f.dropped, file)
		}
		return named
	})
	return len(f.kept) < before
}

// runFewer finds packages that compile on the base without the test files in which the build finds errors, and runs the
// tests there without these files, and once with the change without them too. Files that need a dropped one are found
// in the next run. It returns no packages if there are none, or if one of the runs does not come to its end.
func (r *Runner) runFewer(
	ctx context.Context, job Job, i int, c candidates, base baseRun, deadline time.Time,
) (found []fewerTests, without, control baseRun, err error) {
	folderTester, ok := catalog.PlanterOf(job.Gates[i].Plant).(ecosystem.FolderTester)
	if !ok || len(base.unbuilt) == 0 {
		return nil, base, control, nil
	}
	dir, byFolder := job.Gates[i].Dir, map[string][]string{}
	for _, p := range c.tests.own {
		folder, name := ecosystem.SplitPath(p)
		if folderTester.IsTestFile(name) && ecosystem.IsUnder(folder, dir) {
			at := relativeTo(folder, dir)
			byFolder[at] = append(byFolder[at], p)
		}
	}
	for _, pkg := range packagesOf(folderTester, base.unbuilt) {
		found = append(found, fewerTests{pkg: pkg, kept: slices.Clone(byFolder[folderOfPackage(pkg, byFolder)])})
	}
	for n := range maxFewerRuns {
		broken, more := packagesOf(folderTester, base.unbuilt), false
		for k := range found {
			if slices.Contains(broken, found[k].pkg) {
				more = found[k].dropNamed(base.output, dir) || more
			}
		}
		found = slices.DeleteFunc(found, func(f fewerTests) bool { return len(f.kept) == 0 })
		dropped := listDropped(found)
		if !more || len(dropped) == 0 {
			break
		}
		job.Files = c.tests.listFiles(dropped)
		var reason string
		if base, reason, err = r.runTestsUntil(ctx, job, i, fewerAttempt+n, deadline); err != nil || reason != "" {
			return nil, base, control, err
		}
	}
	broken := packagesOf(folderTester, base.unbuilt)
	found = slices.DeleteFunc(found,
		func(f fewerTests) bool { return len(f.dropped) == 0 || slices.Contains(broken, f.pkg) })
	if len(found) == 0 {
		return nil, base, control, nil
	}
	dropped := listDropped(found)
	job.Files = slices.DeleteFunc(slices.Clone(c.tests.changed),
		func(e gitops.Entry) bool { return slices.Contains(dropped, e.Path) })
	control, reason, err := r.runTestsUntil(ctx, job, i, controlAttempt, deadline)
	if err != nil || reason != "" {
		return nil, base, control, err
	}
	return found, base, control, nil
}

// Attempts of runs without the files that do not compile on the base, with which other runs on the base share no
// container's name.
const (
	fewerAttempt   = 10
	controlAttempt = fewerAttempt + maxFewerRuns
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

// keepApart adds the test files of these packages to the report: those that were run, and those that were left out. It
// forgets a test that fails on the base if it also fails with the change once the same files are left out, because it
// then fails for want of these files.
func keepApart(
	gateCommand company.GateCommand, fewer []fewerTests, control baseRun, seen *baseRun, out *company.RedGreen,
) {
	for _, one := range fewer {
		maps.DeleteFunc(seen.fails,
			func(n string, _ bool) bool { return nameUnit(gateCommand, n) == one.pkg && !control.passes[n] })
		out.Apart = append(out.Apart, one.kept...)
		out.Unbuilt = append(out.Unbuilt, one.dropped...)
	}
}

// listDropped returns the test files of packages that do not compile on the base.
func listDropped(packages []fewerTests) (files []string) {
	for _, one := range packages {
		files = append(files, one.dropped...)
	}
	return files
}
