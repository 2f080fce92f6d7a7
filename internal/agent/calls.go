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
	"company/internal/lib/safetext"
	"company/internal/lib/secretscan"
)

// toolset holds the tools of a run with their parsed schemas.
type toolset struct {
	specs  []adapters.Tool
	byName map[string]*checkedTool
	names  string
}

type checkedTool struct {
	Tool
	schema *argSchema
}

// newToolset returns an error for unusable tools, which are a bug of this program.
func newToolset(tools []Tool) (*toolset, error) {
	s := &toolset{byName: map[string]*checkedTool{}}
	var names []string
	for _, tool := range tools {
		bad := func(reason string, err error) error {
			return company.E(company.EInternal, fmt.Sprintf("tool %q %s", tool.Spec.Name, reason)).Wrap(err)
		}
		if s.byName[tool.Spec.Name] != nil || tool.Spec.Name != adapters.WireName(tool.Spec.Name) || tool.Run == nil {
			return nil, bad("has no valid name or no function", nil)
		}
		schema, err := parseSchema(tool.Spec.Schema)
		if err != nil {
			return nil, bad("has a bad schema", err)
		}
		s.byName[tool.Spec.Name] = &checkedTool{tool, schema}
		if tool.Hidden {
			continue
		}
		sent := tool.Spec
		sent.Schema = sendableSchema(sent.Schema, tool.Unsent...)
		s.specs = append(s.specs, sent)
		names = append(names, tool.Spec.Name)
	}
	s.names = strings.Join(names, ", ")
	return s, nil
}

// toolJob is one call on its way. Either answer is set already, or tool and args are to be run.
type toolJob struct {
	pendingCall
	tool   *checkedTool
	args   json.RawMessage
	reads  bool // the call is read-only
	answer *Result
	notRun bool

	began time.Time
	took  time.Duration
	err   error
}

// prepareCall checks a call. An invalid call gets its error as the answer.
func (s *toolset) prepareCall(p pendingCall) *toolJob {
	j := &toolJob{pendingCall: p}
	no := func(format string, args ...any) *toolJob {
		j.answer, j.notRun = &Result{IsError: true, Text: fmt.Sprintf(format, args...)}, true
		return j
	}
	if p.refuse != "" {
		return no("%s.", p.refuse)
	}
	checkedTool := s.byName[p.Name]
	if checkedTool == nil {
		return no("There is no tool %q. The tools are: %s.", safetext.EscapeLine(p.Name, 64), s.names)
	}
	args := p.Arguments
	if strings.TrimSpace(args) == "" {
		args = "{}" // many models send this for a call without arguments
	}
	if checkedTool.Amend != nil && json.Valid([]byte(args)) {
		args = string(checkedTool.Amend(json.RawMessage(args)))
	}
	v, err := parseArguments(args)
	if err != nil {
		return no("The arguments of %s are not valid JSON: %v. They began: %s\nThe schema is: %s", p.Name, err,
			safetext.EscapeLine(args, 300), checkedTool.Spec.Schema)
	}
	if len(checkedTool.schema.findFaults(v)) > 0 {
		v = checkedTool.schema.repairValue(v)
	}
	if faults := checkedTool.schema.findFaults(v); len(faults) > 0 {
		return no("The arguments of %s do not fit its schema: %s\nThe schema is: %s", p.Name,
			safetext.HeadTail(strings.Join(faults, "\n"), 2048), checkedTool.Spec.Schema)
	}
	// Run the checked arguments: if the original repeats a key, a tool could read the other value.
	checked, err := json.Marshal(v)
	if err != nil {
		return no("The arguments of %s cannot be read: %v.", p.Name, err)
	}
	j.tool, j.args = checkedTool, checked
	j.reads = checkedTool.ReadOnly || checkedTool.Reads != nil && checkedTool.Reads(j.args)
	return j
}

// showArguments returns the main argument of a call for people, with the tool's own names if they are known.
func (j *toolJob) showArguments() string {
	if j.args != nil {
		return safetext.EscapeLine(noteArgument(string(j.args)), 300)
	}
	return safetext.EscapeLine(noteArgument(j.Arguments), 300)
}

// runPendingCalls runs the calls of the newest reply that have no result. Reads run in parallel, all other calls
// in order. After a change the state is saved in the background. The next call that may change something waits
// for that save. If a call returns an error, none of its group is recorded. The call may have had an effect, and
// a saved state must not hold changes that the journal lacks.
func (r *runner) runPendingCalls(ctx context.Context) error {
	for len(r.conv.pending) > 0 {
		if err := contextCause(ctx); err != nil {
			return err
		}
		group := r.nextGroup()
		if mayChange(group) {
			if err := r.awaitSave(); err != nil {
				return err
			}
		}
		jobs := r.runGroup(context.WithValue(ctx, askedKey{}, r.conv.asked), group)
		changed := false
		for _, toolJob := range jobs {
			if toolJob.err != nil {
				if err := contextCause(ctx); err != nil {
					return err
				}
				return fmt.Errorf("tool %s: %w", toolJob.Name, toolJob.err)
			}
			changed = changed || toolJob.answer.Changed
		}
		for _, j := range jobs {
			if err := r.recordResult(ctx, j); err != nil {
				return err
			}
		}
		// Store the records first: the saved state then holds only journaled changes, and followers see results before
		// a long call.
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

// callScheduling tells how a call of a reply is combined with its other calls.
type callScheduling int

const (
	scheduleAny      callScheduling = iota // has an answer already and does not run
	scheduleParallel                       // reads, at the same time
	scheduleInOrder                        // brief changes, in order, saved once
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

// nextGroup returns the next pending calls that may run together.
func (r *runner) nextGroup() []*toolJob {
	var jobs []*toolJob
	how := scheduleAny
	for _, pendingCall := range r.conv.pending {
		j := r.tools.prepareCall(pendingCall)
		switch {
		case j.answer != nil:
		case r.conv.final != nil:
			j.answer = &Result{IsError: true, Text: fmt.Sprintf("not executed because %s ended the run.", r.conv.finalTool)}
			j.notRun = true
		case r.conv.masked && j.tool.StoresText && !j.reads && strings.Contains(pendingCall.written, maskStart):
			j.answer, j.notRun = &Result{IsError: true, Text: writesMask}, true
		case len(jobs) == 0 && j.tool.Finishes: // the calls before it are recorded
			if reason := r.refusesFinish(); reason != "" {
				j.answer, j.notRun = &Result{IsError: true, NoLoop: true, Text: reason}, true
			}
		case r.lost[pendingCall.ID] && !j.reads:
			j.answer = &Result{IsError: true,
				Text: "No result: the process was restarted while this call was due. It may or may not have run, background " +
					"processes and ignored files are gone. Look before you repeat it."}
			j.notRun = true
		}
		scheduling := j.scheduling()
		if len(jobs) > 0 && (scheduling == scheduleAlone ||
			scheduling != scheduleAny && how != scheduleAny && scheduling != how) {
			break
		}
		jobs, how = append(jobs, j), max(how, scheduling)
		if how == scheduleAlone || len(jobs) == maxParallel {
			break
		}
	}
	return jobs
}

// maskStart begins the text that replaces a secret. A model that wrote it into a file would overwrite the secret.
const (
	maskStart  = secretscan.MaskStart
	writesMask = "not executed because its arguments have " + maskStart + "…], which stands for a secret that you were " +
		"not shown. Leave the secret's line as it is: change the lines around it, or move or copy the file with a command."
)

// runGroup runs the jobs and waits for them. It returns the finished jobs. Jobs in order stop after an error or
// a final answer.
func (r *runner) runGroup(ctx context.Context, jobs []*toolJob) []*toolJob {
	var wg sync.WaitGroup
	for i, j := range jobs {
		if i > 0 && j.scheduling() == scheduleInOrder && ctx.Err() != nil {
			return jobs[:i] // interrupted between two calls: the rest has not begun
		}
		j.began = r.utcNow()
		ctx, end := r.passOutput(ctx, j, j.began)
		work := func() {
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

// recordResult journals the result of one call.
func (r *runner) recordResult(ctx context.Context, j *toolJob) error {
	res := j.answer
	keep, cancel := detachContext(ctx)
	defer cancel()

	escaped := safetext.EscapeControl(res.Text)
	text := r.cfg.Redact(escaped)
	masked := text != escaped
	whole := res.Blob
	limit := min(r.conv.mostShown(), max(0, MaxOutput-r.conv.shown))
	brief := safetext.EscapeLine(text, 300)
	if len(text) > limit {
		if whole == nil {
			whole = []byte(res.Text)
		}
		text = safetext.HeadTail(text, limit)
		if limit < 1024 {
			text = fmt.Sprintf("(not shown: the %d MiB of tool output that one run may read are used up. Finish with what you "+
				"know)", MaxOutput>>20)
		}
	}
	args := hashArguments(j.Arguments)
	rec := toolRecord{
		N: r.conv.requests, CallID: j.ID, Name: j.Name, ArgsHash: args,
		At: j.began, DurationMS: j.took.Milliseconds(),
		IsError: res.IsError, Failure: safetext.EscapeLine(res.Failure, 100), NotRun: j.notRun, Changed: res.Changed,
		NoLoop: res.NoLoop, Keep: res.Keep,
		Seen: res.Seen, Masked: masked,
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
		whole = []byte(r.cfg.Redact(string(whole)))
		if rec.Whole, err = r.cfg.Blobs.PutBlob(keep, whole); err != nil {
			return fmt.Errorf("keep the output of %s: %w", j.Name, NotKeptOf(err))
		}
	}
	if res.Final != nil {
		if rec.Final, err = json.Marshal(res.Final); err != nil {
			return company.E(company.EInternal, "cannot record the answer of "+j.Name).Wrap(err)
		}
		_, rec.Escalated = res.Final.(Escalation)
	}
	if err := r.appendLater(ctx, kindTool, rec); err != nil {
		return err
	}
	delete(r.lost, j.ID)
	r.emitEvent(Event{
		Kind: ToolDone, Tool: safetext.EscapeLine(j.Name, 64), CallID: j.ID, Args: j.showArguments(),
		Text:    brief,
		IsError: res.IsError, Failure: safetext.EscapeLine(res.Failure, 100), Changed: res.Changed, Duration: j.took,
	})
	if j.answer.IsError {
		r.cfg.Logger.DebugContext(ctx, "tool error", "run_id", r.cfg.Run, "tool", j.Name, "text",
			brief)
	}
	return nil
}
