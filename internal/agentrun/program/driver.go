// Package program runs other programs as workers, in the sandbox of a run. A program gets the ticket, changes the
// clone, and prints what it did. The host commits and pushes what it left.
//
// It promises that a program gets no key and no network, that its requests to a model are paid by the run, and that its
// words are a claim only: what counts is the commit that the host takes and checks, like that of every worker.
package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/agentrun/relay"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// Driver is the agent.Driver of one program.
type Driver struct {
	Program Profile
	Bin     []string           // its path in the image and arguments; empty if it is installed there
	Profile company.BriefModel // that the run is bound to
	// Models opens the model that the program's requests go to. If it is nil, the program has no model.
	Models agent.ModelOpener
	Limits Limits
}

// Limits are the times after which a running program is ended. A zero value means the default.
type Limits struct {
	Silence time.Duration // without output and without a request
	Begin   time.Duration // without output, and before the first request of a program that needs its model
	Prompt  time.Duration // after a line that asks a person
	Final   time.Duration // after its result, or after its last request was refused
	Hold    time.Duration // that one of its requests waits silently
	Save    time.Duration // from one save of its work to the next
}

func (l Limits) withDefaults() Limits {
	return Limits{Silence: cmp.Or(l.Silence, 20*time.Minute), Begin: cmp.Or(l.Begin, time.Minute),
		Prompt: cmp.Or(l.Prompt, time.Second), Final: cmp.Or(l.Final, 5*time.Second),
		Hold: cmp.Or(l.Hold, 50*time.Second), Save: cmp.Or(l.Save, 10*time.Second)}
}

var _ agent.Driver = Driver{}

// Drive runs the program to its end. In a run that an earlier process began it continues its conversation, or starts
// again, on the work that was saved.
func (d Driver) Drive(ctx context.Context, job agent.Job) (agent.Outcome, error) {
	if job.Program == nil {
		return agent.Outcome{}, company.E(company.EConfig, "only a worker can be another program").
			Fix("bind models of agents.manager, reviewer and merger to other adapters").NeedsPerson()
	}
	d.Limits.Hold = cmp.Or(d.Limits.Hold, d.Program.Hold)
	d.Limits = d.Limits.withDefaults()
	log, err := agent.BeginProgram(ctx, job, d.programName(), d.Profile)
	if err != nil {
		return agent.Outcome{}, err
	}
	saver := &saver{d: d, job: job, log: log, kept: log.Saved}
	said, exit, err := d.runWithModel(ctx, job, log, saver)
	out := log.Outcome()
	if err == nil {
		out, err = d.judgeExit(exit, said, out)
	}
	switch {
	case errors.Is(err, relay.ErrTurns):
		out.End, err = agent.EndTurns, nil
		saver.saveLast(ctx)
	case err == nil:
		err = d.commitWork(ctx, job, said.reader.readVerdict().words, out.End)
	}
	if err != nil {
		out.End, out.Final = "", nil
		saver.saveLast(ctx)
	}
	return out, err
}

// runWithModel runs the program, with the relay to its model, and again as long as its conversation goes on. It returns
// the last output and exit.
func (d Driver) runWithModel(
	ctx context.Context, job agent.Job, log *agent.ProgramLog, saver *saver,
) (said *output, exit toolproto.ProgramExit, err error) {
	set := setup{ticket: job.Program.Ticket, run: job.Run}
	var model *relay.Relay
	if d.Models != nil {
		config := d.configureRelay(job, log)
		config.OnPause = func() { saver.saveSometimes(ctx) }
		if model, err = relay.New(ctx, config); err != nil {
			return nil, exit, err
		}
		defer model.Close()
		base, end := job.Program.Place.ServeModel(model)
		defer end()
		set.base, set.model = base, model.Info()
	}
	talk := beginConversation(d, log, strings.TrimSpace(log.First+"\n\n"+log.System))
	for again := true; again; {
		set.session, set.prompt = talk.session, talk.prompt
		request, err := d.newRequest(set)
		if err != nil {
			return nil, exit, err
		}
		request.Home = talk.home
		w := &watch{limits: d.Limits, halt: orNothing(job.Halt), model: model, asksModel: d.Program.asksModel}
		said = &output{log: log, reader: d.Program.newReader(), flushed: time.Now(), session: talk.session}
		saver.followProgram(said)
		exit, err = d.runOnce(ctx, job, request, said, w)
		if ended := said.flushLines(context.WithoutCancel(ctx)); err == nil {
			err = ended
		}
		said.begun = w.hasBegun(said.printed)
		if err == nil && said.reader.readVerdict().kind != saidDone { // a program that is done needs its model no more
			err = w.modelEnd()
		}
		if again, err = talk.continueAfter(ctx, said, model, err); err != nil {
			return said, exit, err
		}
	}
	return said, exit, nil
}

// configureRelay returns the config of the relay to the program's model.
func (d Driver) configureRelay(job agent.Job, log *agent.ProgramLog) relay.Config {
	return relay.Config{Models: d.Models, Allowance: job.Allowance, Log: log, Hold: d.Limits.Hold,
		MaxTurns: cmp.Or(job.MaxTurns, agent.ProgramTurns), Halt: orNothing(job.Halt),
		OnRefused: job.Program.Place.ReportRefusal}
}

// newRequest returns the request that starts the program.
func (d Driver) newRequest(set setup) (toolproto.ProgramRequest, error) {
	start, err := d.Program.launch(set)
	argv := slices.Clone(d.Bin)
	if len(argv) == 0 {
		argv = []string{d.Program.Install.Path()}
	}
	return toolproto.ProgramRequest{Argv: append(argv, start.args...), Env: start.env, Stdin: start.stdin}, err
}

func orNothing(halt func() error) func() error {
	if halt == nil {
		return func() error { return nil }
	}
	return halt
}

// runOnce runs the program until it ends, or until w ends it.
func (d Driver) runOnce(
	ctx context.Context, job agent.Job, request toolproto.ProgramRequest, said *output, w *watch,
) (toolproto.ProgramExit, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	end := w.startWatching(ctx, said, stop)
	exit, err := job.Program.Place.RunProgram(ctx, request, func(o toolproto.ProgramOutput) {
		if err := said.addPiece(context.WithoutCancel(ctx), o); err != nil {
			stop(err)
		}
	})
	end()
	var refusal *toolproto.Refusal
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errFinal):
		return exit, nil
	case errors.Is(cause, errNoRequest):
		return exit, d.notBegun("it made no request to its model for "+d.Limits.Begin.String(), said.readLastWords())
	case errors.Is(cause, errSilent):
		return exit, company.E(company.ETimeout, d.programName()+" fell silent").
			Because("it printed nothing and asked no model for " + d.Limits.Silence.String())
	case errors.Is(cause, errPrompt):
		return exit, company.E(company.EAgent,
			"executor_blocked, INTERACTIVE_PROMPT: "+d.programName()+" asks: "+said.lastQuestion()).
			Fix("nobody can answer it: let it decide by itself, with an option in models." + d.Profile.Profile + ".bin")
	case cause != nil:
		return exit, cause
	case errors.As(err, &refusal):
		return exit, d.notBegun(refusal.Message, "")
	}
	return exit, err
}

// notBegun returns the error of a program that did not begin.
func (d Driver) notBegun(why, lastWords string) error {
	fix := "set models." + d.Profile.Profile + ".bin to a program in the image; company logs shows what it printed"
	if len(d.Bin) == 0 {
		fix = "company logs shows what it printed; an image of your own (container.image) may lack its libraries"
	}
	fault := company.E(company.EAgentStart, d.programName()+" did not begin: "+why).Fix(fix)
	if lastWords != "" {
		fault = fault.Because("its last words: " + lastWords)
	}
	return fault
}

// judgeExit returns how the run ends, by what the program printed and its exit. The first rule that fits counts.
func (d Driver) judgeExit(exit toolproto.ProgramExit, said *output, out agent.Outcome) (agent.Outcome, error) {
	ended := fmt.Sprintf("exit code %d", exit.ExitCode)
	if exit.Note != "" {
		ended += "; " + exit.Note
	}
	failed := func(what string) (agent.Outcome, error) {
		fault := company.E(company.EAgent, what)
		if said.lastWords != "" {
			fault = fault.Because("its last words: " + said.lastWords)
		}
		return out, fault
	}
	v := said.reader.readVerdict()
	switch {
	case len(said.escalates) > 0:
		reason := strings.TrimSpace(strings.Join(said.escalates, "\n"))
		return endWith(out, agent.EndEscalated, agent.Escalation{Reason: reason})
	case !said.begun && d.Program.asksModel:
		return out, d.notBegun(ended+" before it asked its model", said.lastWords)
	case !said.begun:
		return out, d.notBegun(ended+" before it printed a line", said.lastWords)
	case v.kind == saidUnreadable:
		return failed("AGENT_RESULT_PARSE_ERROR: " + v.words + " (" + ended + ")")
	case v.kind == saidBlocked:
		return endWith(out, agent.EndEscalated, agent.Escalation{Reason: v.words})
	case v.kind == saidFailed:
		return failed(d.programName() + " failed: " + v.words + " (" + ended + ")")
	case v.kind == saidNothing && exit.ExitCode != 0:
		return failed(d.programName() + ": " + ended)
	}
	return endWith(out, agent.EndFinal, agenttools.Finish{Summary: cmp.Or(v.words, said.lastWords)})
}

func endWith(out agent.Outcome, end agent.End, final any) (agent.Outcome, error) {
	text, err := json.Marshal(final)
	out.End, out.Final = end, text
	return out, err
}

// programName names the program and, if it was installed, its version.
func (d Driver) programName() string {
	if len(d.Bin) == 0 {
		return d.Program.Name + " " + d.Program.Install.Version
	}
	return d.Program.Name
}

// commitWork commits what the program left uncommitted, and pushes. A program may have committed all itself.
func (d Driver) commitWork(ctx context.Context, job agent.Job, summary string, end agent.End) error {
	title := job.Program.Ticket.Title
	if end != agent.EndFinal {
		title = "Unfinished: " + title
	}
	request := toolproto.GitCommitRequest{Message: safetext.Cut(strings.TrimSpace(title+"\n\n"+summary), 8<<10)}
	_, err := job.Program.Place.GitCommit(ctx, request)
	var refusal *toolproto.Refusal
	if errors.As(err, &refusal) && refusal.Kind != toolproto.KindNothing && !refusal.ByHost() {
		// Its own commits may be of another author, lack the sign-off, or lie on another branch.
		request.Join = true
		_, err = job.Program.Place.GitCommit(ctx, request)
	}
	switch {
	case !errors.As(err, &refusal):
		return err
	case refusal.ByHost():
		return &agent.NotKept{Err: err}
	case refusal.Kind == toolproto.KindNothing || end != agent.EndFinal:
		return nil // the host sees what there is
	}
	return company.E(company.EAgent, "the work of "+d.programName()+" cannot be committed").Because(refusal.Message)
}
