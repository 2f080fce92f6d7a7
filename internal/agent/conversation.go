package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// conversation is the state of a run, folded from its journal. It changes only through foldRecord. next decides
// the next step.
type conversation struct {
	cfg      config
	toolCost int // tokens of the tools' descriptions

	begun   bool
	driver  string             // the driver that began the conversation
	profile company.BriefModel // the model that the run was bound to at its start
	// atFirst holds answers of tools that the first message shows.
	atFirst []Shown
	msgs    []adapters.Message // unchanged, with nothing cleared
	log     Transcript

	requests int                // number of the newest model call
	open     map[int]callRecord // calls without a reply, by number
	turns    int
	written  int // bytes of all replies
	usage    adapters.Usage
	spent    company.Amount       // by calls that are closed
	byModel  []company.ModelSpent // the part of spent that belongs to a model
	settled  []settledCall        // calls with a counted cost, in order
	textual  []string             // models that get their tools as text

	pending []pendingCall // calls of the newest reply without a result
	reply   int           // index in msgs of the newest reply
	asked   time.Time     // time of the newest reply
	ids     map[string]bool

	masked bool              // the agent was shown masks in place of secrets
	exact  bool              // see Past.Exact
	since  []again           // journaled calls after the newest saved state
	known  map[string]string // files that the agent knew in that state: path to digest
	differ []unreportedDiff  // results that differed when their calls were repeated

	empty    int  // empty replies in a row
	silent   int  // replies in a row without a tool call
	wrote    int  // those of them with tools over the wire, and with text that seems to contain calls
	inText   bool // the newest reply came in the text protocol
	tooLong  int  // refusals in a row because the context does not fit
	filtered bool
	dropped  int  // calls of the newest reply over MaxCalls
	cut      bool // the newest reply was cut at the token limit

	seen   [][32]byte // signatures of calls, for the loop detection
	nudged bool       // the model was warned about repeated calls

	told  map[noteTopic]int // turn of the last note on each topic
	heard int               // messages of the president that the model was given
	// unanswered means that no tool has run since the president's newest message. finishRefused means that the
	// newest call that submits the work was refused.
	unanswered, finishRefused bool

	results []result // tool results in the order of the conversation
	maskTo  int      // results before this index are cleared
	shown   int      // bytes of results so far
	wholes  int      // bytes of whole outputs kept so far
	tokens  int      // estimated tokens of the next request
	window  int      // tokens of the model's context, 0 if unknown
	limit   int      // tokens above which older content is removed
	protect int      // newest tokens that are never cleared

	condensed int             // messages after the head and before this index are left out; 0 leaves no message out
	digest    string          // the digest of the left-out messages
	words     []presidentWord // messages of the president
	lasting   map[string]bool // tools whose calls a digest keeps
	roomMade  int             // number of the last request before which content was removed, 0 for no such request
	clearings int             // number of removals from the context

	final     json.RawMessage
	finalTool string
	escalated bool

	session string   // of a program, see savedRecord
	home    *payload // of a program
	saved   int      // messages of the president in them
}

// pendingCall is a call without a result. If refuse is set, the call is not run, and refuse is the reason.
type pendingCall struct {
	adapters.ToolCall        // with at most the first MaxArguments bytes of the arguments
	written           string // the complete arguments from the model
	refuse            string
	reply, part       int // the number of its reply, and its own position there, from 1
}

func newConversation(cfg config) *conversation {
	c := &conversation{cfg: cfg, ids: map[string]bool{}, told: map[noteTopic]int{}, known: map[string]string{},
		lasting: map[string]bool{}}
	c.log = Transcript{RunID: cfg.Run, AgentID: cfg.Agent}
	for _, tool := range cfg.Tools {
		if tool.Lasting {
			c.lasting[tool.Spec.Name] = true
		}
		if tool.Hidden {
			continue
		}
		c.toolCost += tokensOf(tool.Spec.Name) + tokensOf(tool.Spec.Description) +
			tokensOf(string(sendableSchema(tool.Spec.Schema, tool.Unsent...)))
	}
	info := cfg.model.Info()
	window := info.ContextTokens
	c.window = max(0, window)
	if window <= 0 {
		window = AssumedContext
	}
	// 80 % of the window, with room left for the reply. A model whose longest reply fills half its window still
	// keeps half of it for the context.
	c.limit = max(min(window*8/10, window-info.MaxOutput), window/2)
	c.protect = min(protectTokens, c.limit/2)
	return c
}

func (c *conversation) addMessage(message adapters.Message) {
	c.msgs = append(c.msgs, message)
	c.tokens += messageTokens(message)
}

func (c *conversation) foldPrompt(r promptRecord, system, first string, shown []Shown) {
	if c.begun {
		return
	}
	c.begun, c.atFirst = true, shown
	c.masked = strings.Contains(first, maskStart)
	c.driver, c.profile = r.Driver, r.Profile
	c.tokens = c.toolCost
	for _, message := range []adapters.Message{{Role: adapters.System, Content: system},
		{Role: adapters.User, Content: first, Images: namedImages(r.Images)}} {
		if message.Role == adapters.System && message.Content == "" {
			continue
		}
		c.addMessage(message)
		c.log.addMessage(message.Role, message.Content, r.At)
	}
	for _, f := range r.Seen {
		c.known[f.Path] = f.Digest
	}
}

// namedImages returns images without their data.
func namedImages(of []company.Attachment) (out []adapters.Image) {
	for _, a := range of {
		out = append(out, adapters.Image{Attachment: a})
	}
	return out
}

// foldCall records the start of a call. Other open calls stay open, because requests may run in parallel.
func (c *conversation) foldCall(r callRecord) {
	if r.Before != nil {
		before := cmp.Or(r.BeforeN, r.N-1)
		c.settleCall(before, r.Before.Countable(c.open[before].Worst))
	}
	if again, ok := c.open[r.N]; ok {
		c.settleCall(r.N, again.Worst)
	}
	if c.open == nil {
		c.open = map[int]callRecord{}
	}
	c.open[r.N] = r
	c.requests = max(c.requests, r.N)
}

// foldOpened closes the open calls at their worst case: a new process took over the run, and no reply to them
// will come.
func (c *conversation) foldOpened() {
	for _, n := range slices.Sorted(maps.Keys(c.open)) {
		c.settleCall(n, c.open[n].Worst)
	}
}

// foldError applies an error that came instead of a reply.
func (c *conversation) foldError(r replyRecord) {
	c.foldUsage(r)
	switch r.Error {
	case adapters.TooLong:
		c.tooLong++
		// The window is smaller than expected: clear earlier from now on.
		c.limit = min(c.limit, max(c.tokens*8/10, 1))
		c.protect = min(c.protect, c.limit/2)
	case adapters.MalformedReply:
		c.empty++
	}
}

// mayBeFull reports whether a refusal in words that nobody knows may mean that the context is full: the request grew
// near the window. It is then tried once with room made.
func (c *conversation) mayBeFull(err error) bool {
	var fault *adapters.Error
	window := c.window
	if window <= 0 {
		window = AssumedContext
	}
	return errors.As(err, &fault) &&
		(fault.Status == http.StatusBadRequest || fault.Status == http.StatusUnprocessableEntity) &&
		c.tooLong == 0 && c.turns > 0 && c.tokens > window*7/10
}

// foldReply applies a reply.
func (c *conversation) foldReply(r replyRecord, message adapters.Message) {
	c.foldUsage(r)
	if r.Textual != "" && !slices.Contains(c.textual, r.Textual) {
		c.textual = append(c.textual, r.Textual)
	}
	c.tooLong = 0
	c.dropped = 0
	c.cut = false
	c.asked = r.At
	c.written += replyBytes(message)
	c.inText = r.Textual != ""
	switch {
	case r.Finish == adapters.FinishFilter:
		c.filtered = true
		if message.Content != "" {
			c.log.addMessage(adapters.Assistant, message.Content, r.At)
		}
		return
	case isEmptyReply(message):
		c.empty++ // keep nothing of it: a server may refuse an empty message
		return
	}
	c.empty = 0
	c.turns++
	c.cut = r.Finish == adapters.FinishLength
	whole := message.Content
	message.Role = adapters.Assistant
	message.Content = safetext.HeadTail(message.TextBeforeCall(), maxContent)
	message.CallBytes = 0
	c.pending = nil
	if over := len(message.ToolCalls) - MaxCalls; over > 0 {
		c.dropped = over
		message.ToolCalls = message.ToolCalls[:MaxCalls]
	}
	calls := make([]adapters.ToolCall, len(message.ToolCalls))
	for i, call := range message.ToolCalls {
		p := pendingCall{ToolCall: call, written: call.Arguments, reply: r.N, part: i + 1}
		p.ID = c.uniqueID(call.ID, i)
		p.Name = adapters.WireName(call.Name)
		p.Arguments = safetext.Head(p.written, MaxArguments)
		switch {
		case c.cut:
			p.refuse = "not executed because the reply was cut at the model's output limit, so its arguments may be " +
				"incomplete. Send it again in smaller pieces"
		case p.Name != call.Name:
			p.refuse = fmt.Sprintf("There is no tool %q. The tools are: %s", safetext.EscapeLine(call.Name, 64), c.toolNames())
		case len(p.written) > MaxArguments:
			p.refuse = fmt.Sprintf("not executed because its arguments have more than %d bytes. Do it in smaller pieces",
				MaxArguments)
		}
		c.pending = append(c.pending, p)
		// Arguments are sent back as a JSON object even if the model wrote none: some servers refuse the whole
		// conversation otherwise.
		calls[i] = p.ToolCall
		if len(p.written) > MaxArguments {
			calls[i].Arguments = "{}"
		} else if !isObject(call.Arguments) {
			object, ok := decodeArguments(call.Arguments)
			calls[i].Arguments = object
			if !ok {
				calls[i].Arguments = "{}"
			}
		}
	}
	message.ToolCalls = calls
	if len(calls) == 0 {
		message.ToolCalls = nil
		c.silent++
		if !c.inText && c.seemsToCall(message.Content) {
			c.wrote++
		}
	} else {
		c.silent, c.wrote = 0, 0
	}
	c.reply = len(c.msgs)
	c.addMessage(message)
	// An estimate is an upper bound for the cost. For the size of the context, four bytes per token are closer.
	if r.Usage.InputTokens > 0 && !r.Usage.Estimated {
		c.tokens = adapters.AddTokens(r.Usage.InputTokens, r.Usage.OutputTokens)
	}
	c.log.addMessage(message.Role, whole, r.At)
}

// replyBytes returns the size of a reply in bytes.
func replyBytes(message adapters.Message) int {
	n := len(message.Content) + len(message.Opaque)
	for _, call := range message.ToolCalls {
		n += len(call.Name) + len(call.Arguments)
	}
	return n
}

// foldResult applies the result of a call. answer is the whole result if text shows only changes.
func (c *conversation) foldResult(r toolRecord, text, answer string) error {
	index := -1
	for i, p := range c.pending {
		if p.ID == r.CallID {
			index = i
		}
	}
	if index < 0 {
		return company.E(company.EInternal, fmt.Sprintf("the journal has an answer to an unknown tool call %q", r.CallID))
	}
	pendingCall := c.pending[index]
	c.pending = append(c.pending[:index:index], c.pending[index+1:]...)
	c.unanswered, c.finishRefused = false, r.NotRun && c.isFinishTool(pendingCall.Name)
	c.shown += len(text)
	c.wholes += r.WholeBytes
	c.masked = c.masked || r.Masked
	text = cmp.Or(text, "(no output)") // empty content vanishes on some wires
	message := adapters.Message{Role: adapters.ToolRole, Content: text, ToolCallID: pendingCall.ID,
		ToolName: pendingCall.Name}
	size := tokensOf(text)
	res := result{msg: len(c.msgs), size: size, keep: r.Keep || size <= keepTokens, lasts: r.Keep, call: c.reply,
		changed: r.Changed, pointer: r.Same != "" || r.Answer != nil, argsHash: r.ArgsHash}
	if r.Seen != nil {
		res.path = r.Seen.Path
	}
	if short := clearedArguments(pendingCall.Arguments); short != "" && len(pendingCall.written) <= MaxArguments {
		res.args, res.won = short, tokensOf(pendingCall.Arguments)-tokensOf(short)
	}
	c.results = append(c.results, res)
	c.addMessage(message)
	switch { // only the model gets the short form
	case r.Same != "":
		text = c.resultOf(r.Same, text)
	case r.Answer != nil:
		text = answer
	}
	if !r.NoLoop {
		c.seen = append(c.seen, callSignature(pendingCall.Name, pendingCall.Arguments, text))
		if countRepeats(c.seen) < c.cfg.NudgeAfter {
			c.nudged = false
		}
	}
	if r.Final != nil && c.final == nil {
		c.final = r.Final
		c.finalTool = pendingCall.Name
		c.escalated = r.Escalated
	}
	if r.Changed || r.Seen != nil {
		c.since = append(c.since, again{pendingCall: pendingCall, at: c.asked, text: text, changed: r.Changed, seen: r.Seen})
	}
	c.foldSaved(r.Saved)
	c.log.ToolCalls = append(c.log.ToolCalls, TranscriptCall{
		ID: pendingCall.ID, Name: pendingCall.Name, Arguments: pendingCall.written, Result: text, IsError: r.IsError,
		Failure:   r.Failure,
		Timestamp: r.At, DurationMS: r.DurationMS, Whole: r.Whole,
	})
	return nil
}

// isFinishTool reports whether a tool submits the work.
func (c *conversation) isFinishTool(name string) bool {
	return slices.ContainsFunc(c.cfg.Tools, func(t Tool) bool { return t.Finishes && t.Spec.Name == name })
}

// foldSaved records that the state of the workspace was saved.
func (c *conversation) foldSaved(s *Saved) {
	if s == nil {
		return
	}
	for _, again := range c.since {
		if again.seen != nil {
			c.known[again.seen.Path] = again.seen.Digest
		}
	}
	c.since = nil
}

// foldRedone records that calls were repeated.
func (c *conversation) foldRedone(r redoneRecord) {
	for _, difference := range r.Differ {
		for _, again := range c.since {
			if again.ID == difference.CallID {
				c.differ = append(c.differ, unreportedDiff{again.Name, again.Arguments, difference.Text})
			}
		}
	}
	c.foldSaved(r.Saved)
}

// foldNote adds a note for the model. The note goes into the newest user message, never between a call and its
// result.
func (c *conversation) foldNote(r noteRecord) {
	c.masked = c.masked || strings.Contains(r.Text, maskStart)
	c.told[r.About] = c.turns
	c.heard = max(c.heard, r.Word)
	c.unanswered = c.unanswered || r.About == aboutWord && !c.finishRefused
	switch r.About {
	case noteLoop:
		c.nudged = true
	case noteRestart:
		c.differ = nil
	}
	if last := len(c.msgs) - 1; last >= 0 && c.msgs[last].Role == adapters.User {
		c.msgs[last].Content += "\n\n" + r.Text
		c.tokens += tokensOf(r.Text)
	} else {
		c.addMessage(adapters.Message{Role: adapters.User, Content: r.Text})
	}
	if r.About == aboutWord {
		c.words = append(c.words, presidentWord{len(c.msgs) - 1, r.Text})
	}
	c.log.addMessage(adapters.User, r.Text, r.At)
}

// mostShown returns the bytes of one result that the model is shown. One result fills at most a quarter of the
// context.
func (c *conversation) mostShown() int {
	if c.window <= 0 {
		return MaxResult
	}
	return min(MaxResult, max(4<<10, c.limit))
}

// newestCall returns the newest call if it has no reply.
func (c *conversation) newestCall() (callRecord, bool) {
	call, ok := c.open[c.requests]
	return call, ok
}

func (c *conversation) buildOutcome() Outcome {
	c.log.TotalTokens = adapters.AddTokens(c.usage.InputTokens, c.usage.OutputTokens)
	return Outcome{Turns: c.turns, Usage: c.usage, Spent: c.totalSpent(), Messages: c.msgs, Transcript: c.log,
		Heard: c.heard, ByModel: c.byModel, WroteCalls: c.wrote > 0}
}
