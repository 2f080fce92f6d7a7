package program

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/agentrun/relay"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// What a program is told that continues its conversation.
const (
	afterRestart = "You were interrupted, and what you had started does not run any more. The files may be a little " +
		"older or newer than you remember: look at them first. Go on with the ticket."
	afterWait = "Your model was away for a while. Nothing that you had started runs any more. Go on with the ticket."
)

// maxWords is how often a program that has ended is told what the president has said meanwhile.
const maxWords = 2

// conversation decides how a program is started, and started again.
type conversation struct {
	d     Driver
	log   *agent.ProgramLog
	brief string

	session string // to continue; empty for a new one
	prompt  string
	home    []byte // restored before the start, nil for none
	told    int    // how often it was told more words
	words   string // that it was told
}

// beginConversation continues the conversation that an earlier process saved, or begins one with the brief.
func beginConversation(d Driver, log *agent.ProgramLog, brief string) *conversation {
	c := &conversation{d: d, log: log, brief: brief, prompt: brief}
	if saved := log.Saved; len(d.Program.state) > 0 && saved.Session != "" {
		c.session, c.home = saved.Session, saved.Home
		c.prompt = strings.TrimSpace(afterRestart + "\n\n" + log.Unsaved)
	}
	return c
}

// continueAfter returns whether the program is started again after it has ended with err, nil for an end by itself.
// model may be nil.
func (c *conversation) continueAfter(
	ctx context.Context, said *output, model *relay.Relay, err error,
) (again bool, failed error) {
	var waits *relay.Waits
	wasContinued := c.session != ""
	c.home = nil
	switch {
	case ctx.Err() != nil:
		return false, err
	case errors.As(err, &waits):
		c.log.Emit(agent.Event{Kind: agent.Waiting, Text: safetext.EscapeLine(waits.Error(), 200)})
		if err := model.Await(ctx); err != nil {
			return false, err
		}
		how := "on what it had changed"
		if c.session, c.prompt = said.readSession(), c.brief; c.canContinue() {
			c.prompt, how = afterWait, "where it was"
		}
		c.showStep("is started again " + how)
		return true, nil
	case wasContinued && !said.begun && (err == nil || company.CodeOf(err) == company.EAgentStart):
		c.session, c.prompt = "", strings.TrimSpace(c.brief+"\n\n"+c.words)
		c.showStep("cannot continue its conversation, and begins anew on what it had changed")
		return true, nil
	case err != nil:
		return false, err
	}
	c.session = said.readSession()
	if said.reader.readVerdict().kind != saidDone || !c.canContinue() || c.told == maxWords ||
		model == nil || model.State().Ended != nil {
		return false, nil
	}
	words, err := c.log.TellWords(ctx)
	c.prompt = words
	c.words += "\n\n" + words
	c.told++
	return words != "", err
}

func (c *conversation) canContinue() bool { return c.session != "" && len(c.d.Program.state) > 0 }

func (c *conversation) showStep(what string) {
	c.log.Emit(agent.Event{Kind: agent.Noted, Text: c.d.programName() + " " + what})
}

// saver saves what a program has changed, with the conversation that it can continue.
type saver struct {
	d   Driver
	job agent.Job
	log *agent.ProgramLog

	mu     sync.Mutex
	said   *output   // of the program that runs
	heard  int       // messages of the president that it was started with
	newest time.Time // of the saves
	kept   agent.ProgramConversation
}

// savedPerSecond limits how fast the ledger grows by saves of a large conversation.
const savedPerSecond = 100 << 10

// followProgram makes the program that starts now, with its output, the one whose work is saved.
func (s *saver) followProgram(said *output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = said
	s.heard = s.log.Outcome().Heard
	s.newest = time.Now()
}

// saveSometimes saves if the newest save is old. The program waits for its model meanwhile.
func (s *saver) saveSometimes(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := s.d.Limits.Save + time.Duration(len(s.kept.Home)/savedPerSecond)*time.Second
	if s.said == nil || time.Since(s.newest) < pause {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveBetween)
	defer cancel()
	s.saveState(ctx)
	s.newest = time.Now()
}

// These limit the time of a save: while the program waits for its model, and at the end of a run.
const (
	saveBetween = 30 * time.Second
	saveFor     = time.Minute
)

// saveLast saves the work of a run that does not go on here, so that the next holder or run continues from that. The
// container may be gone.
func (s *saver) saveLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveFor)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saveState(ctx)
}

// saveState saves the work tree and the conversation now. It may fail: the run then continues from an older state.
func (s *saver) saveState(ctx context.Context) {
	saved, err := s.job.Workspace.Save(ctx, max(s.log.Turns(), 1))
	if err == nil && s.said != nil && s.said.hasPrinted() { // before that, its files may not be there
		s.kept, err = s.readConversation(ctx)
	}
	if err == nil {
		err = s.log.NoteSaved(ctx, saved, s.kept)
	}
	if err != nil {
		s.logFailure(ctx, err)
	}
}

// readConversation reads the conversation of the running program. It is empty if the program cannot continue one.
func (s *saver) readConversation(ctx context.Context) (c agent.ProgramConversation, err error) {
	session, folders := s.said.readSession(), s.d.Program.state
	if session == "" || len(folders) == 0 {
		return c, nil
	}
	home, err := s.job.Program.Place.ReadHome(ctx, folders)
	var refusal *toolproto.Refusal
	if errors.As(err, &refusal) { // it has grown too large: the tree alone is saved
		s.logFailure(ctx, err)
		return c, nil
	}
	return agent.ProgramConversation{Session: session, Home: home, Heard: s.heard}, err
}

func (s *saver) logFailure(ctx context.Context, err error) {
	if s.job.Logger != nil {
		s.job.Logger.InfoContext(ctx, "work of a program not saved", "run_id", s.job.Run, "err", err)
	}
}
