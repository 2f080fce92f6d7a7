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
	"company/internal/container/service"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/shellquote"
	"company/internal/toolbox/toolproto"
)

// writeTar writes the files to judge.
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

// runCheck runs a check in its own container. If it runs out of memory or disk space and this host has more, it
// retries in a larger one.
func (r *Runner) runCheck(
	ctx context.Context, job Job, n, attempt int,
) (company.GateCheck, *testreport.Results, error) {
	limits := r.limitsFor(job)
	roomier := false
	for {
		check, res, err := r.runInContainer(ctx, job, n, attempt, limits)
		full := errors.Is(err, errDiskFull) || err == nil && !check.Passed && isDiskFull(check.Output)
		if full && ctx.Err() == nil {
			more := false
			if was := limits; !roomier && r.LimitsByProject != nil {
				if limits, more = r.LimitsByProject.GrowDisk(job.Mirror.Dir(), was); more && job.OnCheckStarted != nil {
					job.OnCheckStarted(job.Gates[n].Name +
						" again, with more room for its files: they filled the container's work space")
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
			limits, more = r.LimitsByProject.Grow(job.Mirror.Dir(), had)
		}
		if !more {
			return check, res, company.E(company.EGates,
				fmt.Sprintf("the %s gate ran out of memory (%s)", job.Gates[n].Name, container.Size(had))).
				// a retry in the same container would give the same result
				Because("the container's memory limit was hit; that says nothing about the work").
				Fix("raise workers.memory, or have the gate run less at a time").NeedsPerson()
		}
		if job.OnCheckStarted != nil {
			job.OnCheckStarted(
				fmt.Sprintf("%s again, with %s of memory instead of %s", job.Gates[n].Name, container.Size(limits.MemoryBytes),
					container.Size(had)))
		}
	}
}

// diskFullRE matches error messages about a full disk.
var diskFullRE = lazyregexp.New(`(?i)no space left on device|\bENOSPC\b|disk quota exceeded`)

func isDiskFull(output string) bool { return diskFullRE.MatchString(output) }

// fullDisk returns errDiskFull if the output reports a full disk, or nil.
func fullDisk(output string) error {
	if isDiskFull(output) {
		return errDiskFull
	}
	return nil
}

// diskFullNote tells a person what to do if no more space is available.
const diskFullNote = "\n[the files of this check filled the container's work space: raise workers.disk, and " +
	"workers.memory with it where the work space lies in memory (company doctor)]"

// errOutOfMemory means that the container's memory limit was hit.
var errOutOfMemory = errors.New("gates: out of memory")

// defaultTimeout limits one run of a check. leastTimeout is the limit if the base is quick.
const (
	defaultTimeout = 30 * time.Minute
	leastTimeout   = 10 * time.Minute
)

// timeLimit returns the limit for one run of a check, based on the base's duration. It is at least three times that
// duration, since the host may be busy. For a quick base it is lower than the configured limit, so that a hanging
// test does not block everything for that long. A provisional check gets at most leastTimeout on the base, where it
// is left out if it is red.
func (r *Runner) timeLimit(gateCommand company.GateCommand, base *company.GateCheck) time.Duration {
	limit := cmp.Or(r.Timeout, defaultTimeout)
	if gateCommand.Provisional && base == nil {
		return min(limit, leastTimeout)
	}
	if base == nil || base.Absent || base.Skipped || base.ExitCode == company.ExitTimeout {
		return limit
	}
	took := base.RunTime()
	return max(min(limit, max(leastTimeout, 10*took)), 3*took)
}

// redProves reports whether a failure of the job counts as evidence: the base's own failures, or a test that must
// fail. In other jobs a failure belongs to the judged tree.
func (j Job) redProves() bool { return j.Baseline || j.Files != nil || j.ExtraFiles != nil }

// runInContainer runs a check once in its own container.
func (r *Runner) runInContainer(
	ctx context.Context, job Job, n, attempt int, limits container.Limits,
) (company.GateCheck, *testreport.Results, error) {
	gateCommand := job.Gates[n]
	limit := r.timeLimit(gateCommand, job.baselineCheck(n))
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: job.Label, Epoch: job.Epoch, Role: "gate"}
	// The container's name includes the tree and the check, so that two gates of one subtask never conflict. Reruns and
	// runs that are not gates get other names.
	name := labels.Name("gate", job.Tree.Short(), fmt.Sprint(n))
	if attempt > 0 {
		name = labels.Name("gate", job.Tree.Short(), fmt.Sprintf("%d-again%d", n, attempt))
	}
	if job.Files != nil {
		labels.Role = "redgreen"
		name = labels.Name("redgreen", job.Tree.Short(), fmt.Sprintf("%d-%d", n, attempt))
	}
	if job.ExtraFiles != nil {
		labels.Role = "canary"
		name = labels.Name("canary", job.Tree.Short(), fmt.Sprint(n))
	}
	out := newOutputBuffer()
	stdout := newReportReader(gateCommand.Parse, out)
	began := time.Now()
	exit, err := r.runScript(cctx, job, container.Spec{Name: name, Labels: labels, Limits: limits},
		checkScript(gateCommand, job.Baseline), stdout, out)
	res := stdout.collectResults()
	if res != nil {
		res.StabilizeNames(began)
	}
	check := company.GateCheck{Name: gateCommand.Name, Command: gateCommand.Command, Took: time.Since(began),
		Output: out.headAndTail()}
	if ended := service.Ended(check.Output); job.redProves() && err == nil && !exit.OOMKilled && exit.Code != 0 &&
		ended != "" {
		return check, nil, service.EndedError(gateCommand.Name, ended, check.Output, fullDisk(check.Output))
	}
	for _, e := range catalog.Of[ecosystem.Explainer]() {
		check.Output += e.ExplainOutput(check.Output)
	}
	isOutOfTime := err != nil && !errors.Is(err, errNotBegun) && errors.Is(context.Cause(cctx), errTimeout) &&
		ctx.Err() == nil
	switch {
	case exit.OOMKilled && (err == nil || isOutOfTime): // the timeout may have waited for the killed process
		return check, nil, errOutOfMemory
	case isOutOfTime:
		check.ExitCode = company.ExitTimeout
		check.Output += fmt.Sprintf("\n[the check was ended after %s: workers.run_timeout lets it run longer]", limit)
	case err != nil:
		return check, nil, err
	default:
		check.ExitCode, check.Passed = exit.Code, exit.Code == 0
		if !check.Passed {
			check.Output += service.ExplainOutput(check.Output)
		}
	}
	res.ApplyTo(&check)
	if r.Blobs != nil {
		hash, err := r.Blobs.PutBlob(ctx, out.log)
		if err != nil {
			return check, nil, err
		}
		check.Log = hash
	}
	return check, res, nil
}

// checkScript returns the script for the container's shell. With probe, which a baseline sets, it first checks that
// the image has the required programs. Later runs need no probe.
func checkScript(gateCommand company.GateCommand, probe bool) string {
	var b strings.Builder
	if gateCommand.Dir != "" {
		fmt.Fprintf(&b, "cd -- %s || exit\n", shellquote.QuoteArgument(gateCommand.Dir))
	}
	if probe && gateCommand.Probe != "" {
		asked := gateCommand.Probe
		if strings.Contains(asked, "\n") {
			asked = gateCommand.Command // a multi-line script is of no use to people
		}
		fmt.Fprintf(&b, "why=$( ( %s\n) 2>&1 ) || { printf 'not in the image: %%s\\n' %s\"$(printf '%%s' \"$why\" | tail "+
			"-n 1 | sed 's/^/: /')\" >&2; exit 127; }\n", gateCommand.Probe, shellquote.QuoteArgument(asked))
	}
	run := gateCommand.Command
	if gateCommand.Report != "" {
		run = gateCommand.Report
	}
	// The exit code stays the command's own. The closing parenthesis is on its own line because a script may end in a
	// comment.
	fmt.Fprintf(&b, "( %s\n)", run)
	isLint := gateCommand.Parse == testreport.FormatLint ||
		gateCommand.Given && gateCommand.Parse == testreport.FormatFindings
	if gateCommand.Parse == testreport.FormatPlain || isLint { // runners print to both streams, and the order matters
		b.WriteString(" 2>&1")
	}
	fmt.Fprintf(&b, "\ncode=$?\n[ $code = 0 ] || eval \"$%s\"\n", toolproto.ServicesEnded)
	if isFileReport(gateCommand.Parse) {
		// Leftover processes of the command are killed, so that only the file follows the last marker. In base64 the file
		// contains no marker.
		fmt.Fprintf(&b, "kill -9 -1 2>/dev/null\nprintf '\\n%%s\\n' %s\nhead -c %d %s 2>/dev/null | base64\n", reportMarker,
			maxReport+1, testreport.File)
	}
	b.WriteString("exit $code\n")
	return b.String()
}
