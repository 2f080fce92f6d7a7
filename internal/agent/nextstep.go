package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// action is the next step of a conversation.
type action int

const (
	ask      action = iota // ask the model
	run                    // run the pending calls
	tell                   // add a note
	mask                   // clear old results
	condense               // leave old turns out
	end                    // it is over
	fail                   // it cannot go on
)

type step struct {
	do    action
	end   End
	about noteTopic
	text  string
	upto  int
	err   error
}

// noteTopic is the topic of a note.
type noteTopic string

const (
	noteRestart  noteTopic = "restart"
	aboutEmpty   noteTopic = "empty"
	aboutSilent  noteTopic = "no_tools"
	aboutCut     noteTopic = "cut"
	aboutDropped noteTopic = "too_many_calls"
	noteLoop     noteTopic = "circle"
	aboutTurns   noteTopic = "turns_left"
	aboutLast    noteTopic = "last_turn"
	aboutWord    noteTopic = "word" // a message of the president
)

// Limits of useless replies in a row.
const (
	emptyLimit  = 3
	silentLimit = 3
	// wroteLimit counts replies whose text seems to contain calls. The model is asked once to call the tool.
	wroteLimit = 2
	// longLimit counts refusals because of the context's size. After the first one, results are cleared. After the
	// second one, turns are left out.
	longLimit = 3
)

// next decides the next step from the conversation alone, so a conversation that is read again from its journal
// gets the same decisions. restarted means that an earlier process had begun the conversation.
func (c *conversation) next(restarted bool) step {
	switch {
	case c.final != nil && len(c.pending) == 0:
		if c.escalated {
			return step{do: end, end: EndEscalated}
		}
		return step{do: end, end: EndFinal}
	case len(c.pending) > 0:
		return step{do: run}
	case c.filtered:
		return step{do: fail, err: company.E(company.EModel, "the model's server refused to answer").
			Because("the reply was filtered").Fix("use another model for this role, or reword the task")}
	case c.empty >= emptyLimit:
		return step{do: fail,
			err: company.E(company.EModel, fmt.Sprintf("the model sent %d invalid replies in a row", c.empty)).
				Because("they were empty or malformed").Fix("use another model for this role")}
	case c.written > MaxWritten:
		return step{do: fail,
			err: company.E(company.EModel, fmt.Sprintf("the model wrote more than %d MiB in one run", MaxWritten>>20)).
				Because("no task needs that much").Fix("use another model for this role")}
	case c.tooLong >= longLimit:
		return c.contextFull()
	}

	circle := countRepeats(c.seen)
	switch {
	case circle >= c.cfg.StuckAfter && c.nudged && c.told[noteLoop] < c.turns: // it had a turn to change course
		return step{do: end, end: EndStuck}
	case c.silent >= silentLimit, c.wrote >= wroteLimit:
		return step{do: end, end: EndNoTools}
	case c.turns >= c.cfg.MaxTurns:
		return step{do: end, end: EndTurns}
	}

	if s, ok := c.nextNote(circle, restarted); ok {
		return s
	}
	return c.makeRoom()
}

// nextNote returns the first note that the model must get before the next request.
func (c *conversation) nextNote(circle int, restarted bool) (step, bool) {
	say := func(a noteTopic, format string, args ...any) (step, bool) {
		return step{do: tell, about: a, text: fmt.Sprintf(format, args...)}, true
	}
	fresh := func(a noteTopic) bool { index, ok := c.told[a]; return !ok || index != c.turns }
	left := c.cfg.MaxTurns - c.turns
	switch {
	case c.dropped > 0 && fresh(aboutDropped):
		return say(aboutDropped, "[reminder] Your reply held more than %d tool calls. %d were left out: they were not "+
			"executed.", MaxCalls, c.dropped)
	case c.silent > 0 && c.cut && fresh(aboutCut):
		return say(aboutCut, "[reminder] Your reply was cut at the model's output limit. Be brief, and call one of the "+
			"tools: %s.", c.toolNames())
	case c.silent > 0 && !c.cut && fresh(aboutSilent):
		text := "Text is not read for calls, and a tool call alone ends this run"
		if c.inText {
			text = "Text alone does not end the work"
		}
		return say(aboutSilent, "[reminder] Your reply called no tool, so nothing happened. %s: every reply calls at least "+
			"one of: %s.", text, c.toolNames())
	case c.empty == emptyLimit-1 && fresh(aboutEmpty):
		return say(aboutEmpty, "[reminder] Your last replies were empty or malformed. Call one of the tools: %s.",
			c.toolNames())
	case circle >= c.cfg.NudgeAfter && !c.nudged:
		return say(noteLoop, "[reminder] You have made the same calls with the same results %d times in a row. Doing it "+
			"again will not change the result. Try something else, or use the tool that gives up and say what is in the way.",
			circle)
	case c.turns > 0 && left == 1 && fresh(aboutLast):
		return say(aboutLast, "[reminder] This is your last turn. End now with the tool that ends the work.")
	case c.turns >= (c.cfg.MaxTurns*8+9)/10 && !c.saidEver(aboutTurns) && left > 1:
		return say(aboutTurns, "[reminder] %d of %d turns are used, %d are left. Wrap up: finish what is begun, keep it, "+
			"and end with the tool that ends the work.", c.turns, c.cfg.MaxTurns, left)
	case !c.exact && restarted && c.turns > 0 && fresh(noteRestart):
		return say(noteRestart, "[system] The process that drives you was restarted. The work tree is as of the last "+
			"checkpoint: background processes and ignored files are gone, and changes of the last turn may be. Look before "+
			"you go on.")
	case len(c.differ) > 0:
		return say(noteRestart, "%s These calls were done again and came out differently; this is how it is now:%s",
			restartText, c.describeDifferences())
	case restarted && c.turns > 0 && fresh(noteRestart):
		return say(noteRestart, restartText)
	}
	return step{}, false
}

// restartText lists the parts of a workspace that an interruption preserves, and those that it loses.
const restartText = "[system] The process that drives you was restarted. Files, index and branch are as your calls " +
	"left them. Gone are background processes, files that git ignores, and files outside of the repository: start or " +
	"make again what you need of them."

func (c *conversation) saidEver(a noteTopic) bool { _, ok := c.told[a]; return ok }

// makeRoom asks the model. If the context is nearly full, it first clears old results and then leaves old turns
// out.
func (c *conversation) makeRoom() step {
	if c.cfg.Clearing != nil {
		if known, measure := c.cfg.Clearing(c.clearings); !measure {
			return known.asStep()
		}
	}
	if c.tooLong > 0 {
		// The server's limit counts, not the estimate here. Remove all but the newest quarter, once after each
		// refusal.
		if c.roomMade == c.requests {
			return step{do: ask}
		}
		return c.makeAllRoom(c.tooLong == 1)
	}
	if c.tokens <= c.limit {
		if upto := c.countStale(); upto > 0 {
			return step{do: mask, upto: upto}
		}
		return step{do: ask}
	}
	// Clear in one batch, and only if it frees enough: each change of sent text invalidates the server's cached
	// prefix.
	least := max(c.limit/20, 1) // the limit is tiny if a server counts too few tokens
	if upto := c.countMaskable(c.protect); c.tokensFreed(upto) >= least {
		return step{do: mask, upto: upto}
	}
	if s, ok := c.condenseStep(c.protect, least); ok {
		return s
	}
	if c.window > 0 && c.tokens > c.window && c.turns > 0 {
		// Some servers silently cut the beginning off.
		return c.makeAllRoom(true)
	}
	if c.window > 0 && c.tokens > c.window+c.window/4 {
		return c.contextFull() // the prompt alone is too large; estimates err by less than a quarter
	}
	return step{do: ask}
}

// makeAllRoom frees all but the newest quarter of the context.
func (c *conversation) makeAllRoom(masks bool) step {
	if upto := c.countMaskable(c.tokens / 4); masks && c.tokensFreed(upto) > 0 {
		return step{do: mask, upto: upto}
	}
	if s, ok := c.condenseStep(c.tokens/4, 1); ok {
		return s
	}
	return c.contextFull()
}

// contextFull ends a conversation that has outgrown the model's context. Its work in a workspace is saved, and
// another conversation continues from there.
func (c *conversation) contextFull() step {
	if c.cfg.Workspace != nil && c.turns > 0 {
		return step{do: end, end: EndFull}
	}
	return step{do: fail, err: c.tooLongError()}
}

// tooLongError names the size of the conversation and of the model's context, if they are known.
func (c *conversation) tooLongError() error {
	reason := "clearing old calls and their results did not make enough room"
	if c.turns == 0 {
		reason = fmt.Sprintf("its prompt and its tools alone take about %d tokens", c.tokens)
	}
	if c.window > 0 {
		reason += fmt.Sprintf("; the model has room for %d (context_tokens)", c.window)
	}
	return company.E(company.EModel, "the conversation does not fit into the model's context").Because(reason).
		Fix("use a model with a larger context for this role, or split the task")
}

func (c *conversation) toolNames() string {
	var names []string
	for _, tool := range c.cfg.Tools {
		if !tool.Hidden {
			names = append(names, tool.Spec.Name)
		}
	}
	return strings.Join(names, ", ")
}
