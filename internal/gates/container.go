package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/lazyregexp"
	"company/internal/service"
	"company/internal/shell"
	"company/internal/testreport"
	"company/internal/toolproto"
)

// writeTar writes the judged files.
func (j Job) writeTar(ctx context.Context, w io.Writer) error {
	files := j.Files
	if files == nil {
		var err error
		if files, err = j.Mirror.List(ctx, j.Tree); err != nil {
			return err
		}
	}
	return j.Mirror.TarEntries(ctx, files, w, j.ExtraFiles...)
}

var errTimeout = errors.New("gates: the check ran too long")

// runCheck runs a check in a container of its own, and in a larger one where it ran
// out of memory or of room and this host has more.
func (r *Runner) runCheck(ctx context.Context, j Job, n, attempt int) (company.GateCheck, *testreport.Results, error) {
	limits := r.limitsFor(j)
	roomier := false
	for {
		check, res, err := r.runInContainer(ctx, j, n, attempt, limits)
		full := errors.Is(err, errDiskFull) || err == nil && !check.Passed && isDiskFull(check.Output)
		if full && ctx.Err() == nil {
			more := false
			if was := limits; !roomier && r.LimitsByProject != nil {
				if limits, more = r.LimitsByProject.GrowDisk(j.Mirror.Dir(), was); more && j.OnCheckStarted != nil {
					j.OnCheckStarted(j.Gates[n].Name + " again, with more room for its files: they filled the container's work space")
				}
			}
			if roomier = true; more {
				continue
			}
			if err == nil {
				check.Output += diskFullNote
			}
		}
		if err == nil && r.LimitsByProject != nil {
			need := r.LimitsByProject.Beyond(limits)
			check.Memory, check.Disk = need.Memory, need.Disk
		}
		if !errors.Is(err, errOutOfMemory) || ctx.Err() != nil {
			return check, res, err
		}
		had, more := limits.WithDefaults().MemoryBytes, false
		if r.LimitsByProject != nil {
			limits, more = r.LimitsByProject.Grow(j.Mirror.Dir(), had)
		}
		if !more {
			return check, res, company.E(company.EGates, fmt.Sprintf("the %s gate ran out of memory (%s)", j.Gates[n].Name, container.Size(had))).
				Because("the container's memory limit was hit; that says nothing about the work").Fix("raise workers.memory, or have the gate run less at a time").NeedsPerson() // the same in the same container
		}
		if j.OnCheckStarted != nil {
			j.OnCheckStarted(fmt.Sprintf("%s again, with %s of memory instead of %s", j.Gates[n].Name, container.Size(limits.MemoryBytes), container.Size(had)))
		}
	}
}

// diskFullRE matches what programs print whose files found no room.
var diskFullRE = lazyregexp.New(`(?i)no space left on device|\bENOSPC\b|disk quota exceeded`)

func isDiskFull(output string) bool { return diskFullRE.MatchString(output) }

// fullDisk is errDiskFull where the output tells of one, or nil.
func fullDisk(output string) error {
	if isDiskFull(output) {
		return errDiskFull
	}
	return nil
}

// diskFullNote tells a person what to do where there is no more room to be had.
const diskFullNote = "\n[the files of this check filled the container's work space: raise workers.disk, and workers.memory with it where the work space lies in memory (company doctor)]"

// errOutOfMemory: the container's memory limit was hit.
var errOutOfMemory = errors.New("gates: out of memory")

// defaultTimeout is how long one run of a check may take, and leastTimeout how long
// one gets whose base is quick.
const (
	defaultTimeout = 30 * time.Minute
	leastTimeout   = 10 * time.Minute
)

// timeLimit is how long one run of a check may take. What is known of the base sets
// it: three times as long in any case, since the host may be busy; and not so long
// that a test which hangs holds up everything for as much as a suite of an hour. A provisional
// check, which is left out where the base is red by it, gets no more there than a quick one.
func (r *Runner) timeLimit(g company.GateCommand, base *company.GateCheck) time.Duration {
	limit := cmp.Or(r.Timeout, defaultTimeout)
	if g.Provisional && base == nil {
		return min(limit, leastTimeout)
	}
	if base == nil || base.Absent || base.Skipped || base.ExitCode == exitTimeout {
		return limit
	}
	took := base.RunTime()
	return max(min(limit, max(leastTimeout, 10*took)), 3*took)
}

// redProves says whether a failure of the job is held to show something: what the base
// fails, or that a test fails as it should. Of other trees it is their own.
func (j Job) redProves() bool { return j.Baseline || j.Files != nil || j.ExtraFiles != nil }

// runInContainer runs a check in one container of its own.
func (r *Runner) runInContainer(ctx context.Context, j Job, n, attempt int, limits container.Limits) (company.GateCheck, *testreport.Results, error) {
	g := j.Gates[n]
	limit := r.timeLimit(g, j.baselineCheck(n))
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: j.Label, Epoch: j.Epoch, Role: "gate"}
	// The tree and the check are part of the name: two gates of one subtask
	// never want the same container. A further run says so, and so does one
	// that is no gate at all.
	name := labels.Name("gate", j.Tree.Short(), fmt.Sprint(n))
	if attempt > 0 {
		name = labels.Name("gate", j.Tree.Short(), fmt.Sprintf("%d-again%d", n, attempt))
	}
	if j.Files != nil {
		labels.Role = "redgreen"
		name = labels.Name("redgreen", j.Tree.Short(), fmt.Sprintf("%d-%d", n, attempt))
	}
	if j.ExtraFiles != nil {
		labels.Role = "canary"
		name = labels.Name("canary", j.Tree.Short(), fmt.Sprint(n))
	}
	out := &outputBuffer{}
	stdout := newReportReader(g.Parse, out)
	began := time.Now()
	exit, err := r.runScript(cctx, j, container.Spec{Name: name, Labels: labels, Limits: limits}, checkScript(g, j.Baseline), stdout, out)
	res := stdout.collectResults()
	if res != nil {
		res.StabilizeNames(began)
	}
	check := company.GateCheck{Name: g.Name, Command: g.Command, Took: time.Since(began), Output: out.headAndTail()}
	if ended := service.Ended(check.Output); j.redProves() && err == nil && !exit.OOMKilled && exit.Code != 0 && ended != "" {
		return check, nil, service.EndedError(g.Name, ended, check.Output, fullDisk(check.Output))
	}
	for _, e := range catalog.Of[ecosystem.Explainer]() {
		check.Output += e.ExplainOutput(check.Output)
	}
	switch {
	case err != nil && !errors.Is(err, errNotBegun) && errors.Is(context.Cause(cctx), errTimeout) && ctx.Err() == nil:
		check.ExitCode = exitTimeout
		check.Output += fmt.Sprintf("\n[the check was ended after %s: workers.run_timeout lets it run longer]", limit)
	case err != nil:
		return check, nil, err
	case exit.OOMKilled:
		return check, nil, errOutOfMemory
	default:
		check.ExitCode, check.Passed = exit.Code, exit.Code == 0
		if !check.Passed {
			check.Output += service.ExplainOutput(check.Output)
		}
	}
	res.ApplyTo(&check)
	if r.Blobs != nil {
		h, err := r.Blobs.PutBlob(ctx, out.log)
		if err != nil {
			return check, nil, err
		}
		check.Log = h
	}
	return check, res, nil
}

// checkScript is what the container's shell is given. A baseline asks first whether
// the image has what the check needs; later that is settled.
func checkScript(g company.GateCommand, probe bool) string {
	var b strings.Builder
	if g.Dir != "" {
		fmt.Fprintf(&b, "cd -- %s || exit\n", shell.QuoteArgument(g.Dir))
	}
	if probe && g.Probe != "" {
		asked := g.Probe
		if strings.Contains(asked, "\n") {
			asked = g.Command // a script says nothing to people
		}
		fmt.Fprintf(&b, "why=$( ( %s\n) 2>&1 ) || { printf 'not in the image: %%s\\n' %s\"$(printf '%%s' \"$why\" | tail -n 1 | sed 's/^/: /')\" >&2; exit 127; }\n", g.Probe, shell.QuoteArgument(asked))
	}
	run := g.Command
	if g.Report != "" {
		run = g.Report
	}
	// The exit code stays the command's own. The parenthesis stands on a line
	// of its own: a script may end in a comment.
	fmt.Fprintf(&b, "( %s\n)", run)
	isLint := g.Parse == testreport.FormatLint || g.Given && g.Parse == testreport.FormatFindings
	if g.Parse == testreport.FormatPlain || isLint { // what runners print comes on both streams, and in order
		b.WriteString(" 2>&1")
	}
	fmt.Fprintf(&b, "\ncode=$?\n[ $code = 0 ] || eval \"$%s\"\n", toolproto.ServicesEnded)
	if isFileReport(g.Parse) {
		// What the command left running is killed, so that nothing is printed behind
		// the last marker but the file; and in base64 the file holds no marker.
		fmt.Fprintf(&b, "kill -9 -1 2>/dev/null\nprintf '\\n%%s\\n' %s\nhead -c %d %s 2>/dev/null | base64\n", reportMarker, maxReport+1, testreport.File)
	}
	b.WriteString("exit $code\n")
	return b.String()
}
