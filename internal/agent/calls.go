package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/marks"
	"company/internal/safetext"
)

// toolset is the tools of a run with their schemas compiled.
type toolset struct {
	specs  []adapters.Tool
	byName map[string]*checkedTool
	names  string
}

type checkedTool struct {
	Tool
	schema *argSchema
}

// newToolset refuses tools that cannot work: a bug of ours.
func newToolset(tools []Tool) (*toolset, error) {
	s := &toolset{byName: map[string]*checkedTool{}}
	var names []string
	for _, t := range tools {
		bad := func(why string, err error) error {
			return company.E(company.EInternal, fmt.Sprintf("tool %q %s", t.Spec.Name, why)).Wrap(err)
		}
		if s.byName[t.Spec.Name] != nil || t.Spec.Name != wireName(t.Spec.Name) || t.Run == nil {
			return nil, bad("has no usable name or nothing to run", nil)
		}
		schema, err := parseSchema(t.Spec.Schema)
		if err != nil {
			return nil, bad("has a bad schema", err)
		}
		s.byName[t.Spec.Name] = &checkedTool{t, schema}
		if t.Hidden {
			continue
		}
		sent := t.Spec
		sent.Schema = sendableSchema(sent.Schema, t.Unsent...)
		s.specs = append(s.specs, sent)
		names = append(names, t.Spec.Name)
	}
	s.names = strings.Join(names, ", ")
	return s, nil
}

// toolJob is one call on its way: either answer is set already, or tool and args
// are what has to be run.
type toolJob struct {
	pendingCall
	tool   *checkedTool
	args   json.RawMessage
	reads  bool // the call changes nothing
	answer *Result
	notRun bool

	began time.Time
	took  time.Duration
	err   error
}

// prepareCall checks a call. Whatever is wrong with it becomes its answer.
func (s *toolset) prepareCall(p pendingCall) *toolJob {
	j := &toolJob{pendingCall: p}
	no := func(format string, args ...any) *toolJob {
		j.answer, j.notRun = &Result{IsError: true, Text: fmt.Sprintf(format, args...)}, true
		return j
	}
	if p.refuse != "" {
		return no("%s.", p.refuse)
	}
	t := s.byName[p.Name]
	if t == nil {
		return no("There is no tool %q. The tools are: %s.", safetext.EscapeLine(p.Name, 64), s.names)
	}
	args := p.Arguments
	if strings.TrimSpace(args) == "" {
		args = "{}" // what many models send when they have nothing to say
	}
	if t.Amend != nil && json.Valid([]byte(args)) {
		args = string(t.Amend(json.RawMessage(args)))
	}
	v, err := parseArguments(args)
	if err != nil {
		return no("The arguments of %s are not valid JSON: %v. They began: %s\nThe schema is: %s", p.Name, err, safetext.EscapeLine(args, 300), t.Spec.Schema)
	}
	if len(t.schema.findFaults(v)) > 0 {
		v = t.schema.repairValue(v)
	}
	if faults := t.schema.findFaults(v); len(faults) > 0 {
		return no("The arguments of %s do not fit its schema: %s\nThe schema is: %s", p.Name, safetext.HeadTail(strings.Join(faults, "\n"), 2048), t.Spec.Schema)
	}
	// The checked arguments run: of a member that stands there twice a tool reads both.
	checked, err := json.Marshal(v)
	if err != nil {
		return no("The arguments of %s cannot be read: %v.", p.Name, err)
	}
	j.tool, j.args = t, checked
	j.reads = t.ReadOnly || t.Reads != nil && t.Reads(j.args)
	return j
}

// showArguments gives people the main argument of a call, with names as the tool
// has them where they are known.
func (j *toolJob) showArguments() string {
	if j.args != nil {
		return safetext.EscapeLine(noteArgument(string(j.args)), 300)
	}
	return safetext.EscapeLine(noteArgument(j.Arguments), 300)
}

// runPendingCalls runs the calls of the newest reply that have no result: reads beside
// each other, everything else in order. After what changed something the state
// that holds the change is kept, beside what comes next: the next call that may
// change something waits for that. A call without an answer may have been done all
// the same, and a state kept after it would hold what the journal does not: of its
// group nothing is recorded.
func (r *runner) runPendingCalls(ctx context.Context) error {
	for len(r.conv.pending) > 0 {
		if err := contextCause(ctx); err != nil {
			return err
		}
		group := r.nextGroup()
		if mayChange(group) {
			back := r.mark.Away()
			err := r.awaitSave()
			back()
			if err != nil {
				return err
			}
		}
		back := r.mark.Away() // each call has a mark of its own
		jobs := r.runGroup(context.WithValue(ctx, askedKey{}, r.conv.asked), group)
		back()
		changed := false
		for _, j := range jobs {
			if j.err != nil {
				if err := contextCause(ctx); err != nil {
					return err
				}
				return fmt.Errorf("tool %s: %w", j.Name, j.err)
			}
			changed = changed || j.answer.Changed
		}
		for _, j := range jobs {
			if err := r.recordResult(ctx, j); err != nil {
				return err
			}
		}
		// The state that is kept holds nothing that the journal does not have, and a
		// follower sees results before a call that takes long.
		if changed || len(r.conv.pending) > 0 {
			if err := r.storeRecords(ctx); err != nil {
				return err
			}
		}
		if changed {
			r.startSave(ctx)
		}
	}
	return nil
}

// mayChange reports whether one of the jobs may change the workspace.
func mayChange(jobs []*toolJob) bool {
	return slices.ContainsFunc(jobs, func(j *toolJob) bool {
		how := j.scheduling()
		return how == scheduleInOrder || how == scheduleAlone
	})
}

// callScheduling is how calls of one reply go together.
type callScheduling int

const (
	scheduleAny      callScheduling = iota // nothing is run
	scheduleParallel                       // reads, at the same time
	scheduleInOrder                        // brief changes, one after the other, saved once
	scheduleAlone
)

func (j *toolJob) scheduling() callScheduling {
	switch {
	case j.answer != nil:
		return scheduleAny
	case j.reads:
		return scheduleParallel
	case j.tool.Brief:
		return scheduleInOrder
	}
	return scheduleAlone
}

// nextGroup takes the calls that may run together now.
func (r *runner) nextGroup() []*toolJob {
	var jobs []*toolJob
	how := scheduleAny
	for _, p := range r.conv.pending {
		j := r.tools.prepareCall(p)
		switch {
		case j.answer != nil:
		case r.conv.final != nil:
			j.answer = &Result{IsError: true, Text: fmt.Sprintf("not executed because %s ended the run.", r.conv.finalTool)}
			j.notRun = true
		case len(jobs) == 0 && j.tool.Finishes: // the calls before it are recorded
			if why := r.refusesFinish(); why != "" {
				j.answer, j.notRun = &Result{IsError: true, NoLoop: true, Text: why}, true
			}
		case r.lost[p.ID] && !j.reads:
			j.answer = &Result{IsError: true, Text: "No result: the process was restarted while this call was due. It may or may not have run, background processes and ignored files are gone. Look before you repeat it."}
			j.notRun = true
		}
		m := j.scheduling()
		if len(jobs) > 0 && (m == scheduleAlone || m != scheduleAny && how != scheduleAny && m != how) {
			break
		}
		jobs, how = append(jobs, j), max(how, m)
		if how == scheduleAlone || len(jobs) == maxParallel {
			break
		}
	}
	return jobs
}

// runGroup runs what has to be run and waits for all of it. It returns the
// jobs that are over: of those in order none after an error or an end.
func (r *runner) runGroup(ctx context.Context, jobs []*toolJob) []*toolJob {
	var wg sync.WaitGroup
	for i, j := range jobs {
		if i > 0 && j.scheduling() == scheduleInOrder && ctx.Err() != nil {
			return jobs[:i] // interrupted between two calls: the rest has not begun
		}
		j.began = r.utcNow()
		mark := r.enterCall(marks.Call, j.pendingCall)
		ctx, end := r.passOutput(mark.NewContext(ctx), j, j.began)
		work := func() {
			defer mark.Pass()
			defer end()
			start := time.Now()
			j.answer = &Result{}
			j.err = company.Guard("the tool "+j.Name, func() (err error) {
				*j.answer, err = j.tool.Run(ctx, j.args)
				return err
			})
			j.took = time.Since(start)
		}
		if j.scheduling() != scheduleAny {
			r.emitEvent(Event{Kind: ToolStarted, Tool: safetext.EscapeLine(j.Name, 64), CallID: j.ID, Args: j.showArguments()})
		}
		switch j.scheduling() {
		case scheduleAny:
			mark.Pass()
		case scheduleParallel:
			wg.Go(work)
		default:
			work()
			if j.err != nil || j.answer.Final != nil {
				return jobs[:i+1]
			}
		}
	}
	wg.Wait()
	return jobs
}

// recordResult records the result of one call.
func (r *runner) recordResult(ctx context.Context, j *toolJob) error {
	res := j.answer
	keep, cancel := detachContext(ctx)
	defer cancel()

	text := safetext.EscapeControl(res.Text)
	whole := res.Blob
	limit := min(r.conv.mostShown(), max(0, MaxOutput-r.conv.shown))
	if len(text) > limit {
		if whole == nil {
			whole = []byte(res.Text)
		}
		text = safetext.HeadTail(text, limit)
		if limit < 1024 {
			text = fmt.Sprintf("(not shown: the %d MiB of tool output that one run may read are used up. Finish with what you know)", MaxOutput>>20)
		}
	}
	args := hashArguments(j.Arguments)
	rec := toolRecord{
		N: r.conv.requests, CallID: j.ID, Name: j.Name, ArgsHash: args,
		At: j.began, DurationMS: j.took.Milliseconds(),
		IsError: res.IsError, Failure: safetext.EscapeLine(res.Failure, 100), NotRun: j.notRun, Changed: res.Changed, NoLoop: res.NoLoop, Keep: res.Keep,
		Seen: res.Seen,
	}
	if !res.IsError && !res.Keep && res.Final == nil {
		if rec.Same = r.conv.findSame(j.Name, args, text); rec.Same != "" {
			text = unchanged
		}
	}
	var err error
	if part := r.conv.partOf(j, args, text); rec.Same == "" && part != "" {
		answer, err := storePayload(keep, r.cfg.Blobs, text)
		if err != nil {
			return err
		}
		rec.Answer, text = &answer, part
	}
	if rec.Result, err = storePayload(keep, r.cfg.Blobs, text); err != nil {
		return err
	}
	if len(whole) > 0 && r.cfg.Blobs != nil && r.conv.wholes+len(whole) <= MaxWhole {
		rec.WholeBytes = len(whole)
		if rec.Whole, err = r.cfg.Blobs.PutBlob(keep, whole); err != nil {
			return fmt.Errorf("keep the output of %s: %w", j.Name, NotKeptOf(err))
		}
	}
	if res.Final != nil {
		if rec.Final, err = json.Marshal(res.Final); err != nil {
			return company.E(company.EInternal, "the answer of "+j.Name+" cannot be recorded").Wrap(err)
		}
		_, rec.Escalated = res.Final.(Escalation)
	}
	if err := r.appendLater(ctx, kindTool, rec); err != nil {
		return err
	}
	delete(r.lost, j.ID)
	r.emitEvent(Event{
		Kind: ToolDone, Tool: safetext.EscapeLine(j.Name, 64), CallID: j.ID, Args: j.showArguments(), Text: safetext.EscapeLine(res.Text, 300),
		IsError: res.IsError, Failure: safetext.EscapeLine(res.Failure, 100), Changed: res.Changed, Duration: j.took,
	})
	if j.answer.IsError {
		r.cfg.Logger.DebugContext(ctx, "tool error", "run_id", r.cfg.Run, "tool", j.Name, "text", safetext.EscapeLine(res.Text, 300))
	}
	return nil
}
