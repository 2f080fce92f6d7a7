package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/safetext"
)

// conversation is the state of a run: the fold of its journal. It changes only
// through fold; next decides what to do.
type conversation struct {
	cfg      config
	toolCost int // tokens that the tools' descriptions take

	begun   bool
	driver  string             // that began the conversation
	profile company.BriefModel // that the run was bound to then
	// atFirst are answers that the first message has.
	atFirst []Shown
	msgs    []adapters.Message // as they were, nothing masked
	log     Transcript

	requests int                // number of the newest model call
	open     map[int]callRecord // calls without a reply, by number
	turns    int
	written  int // bytes of all replies
	usage    adapters.Usage
	spent    company.Amount       // by calls that are not open
	byModel  []company.ModelSpent // of spent, what has a model
	settled  []settledCall        // calls that are counted, in order
	textual  []string             // models that are given their tools in text

	pending []pendingCall // calls of the newest reply that have no result yet
	reply   int           // index in msgs of the newest reply
	asked   time.Time     // when the newest reply came
	ids     map[string]bool

	exact  bool              // see Past.Exact
	since  []again           // journaled calls that the newest saved state does not hold
	known  map[string]string // files that the agent knew in that state: path to digest
	differ []unreportedDiff  // results that came out differently when they were done again

	empty    int  // replies in a row with nothing in them
	silent   int  // replies in a row without a tool call
	wrote    int  // of these: with tools over the wire, and with text that seems to hold calls
	inText   bool // the newest reply came in the text protocol
	tooLong  int  // refusals in a row because the context does not fit
	filtered bool
	dropped  int  // calls of the newest reply over MaxCalls
	cut      bool // the newest reply was cut at the token limit

	seen   [][32]byte // signatures of calls
	nudged bool       // the model was warned of its circle

	told  map[noteTopic]int // turn of the last note on a topic
	heard int               // messages of the president that the model was given
	// unanswered says that no tool has run since the newest of them, and finishRefused that
	// the newest call that would hand the work in was refused.
	unanswered, finishRefused bool

	results []result // tool results in the order of the conversation
	maskTo  int      // how many of them are masked
	shown   int      // bytes of results so far
	wholes  int      // bytes of whole outputs kept so far
	tokens  int      // estimate of what the next request holds
	window  int      // tokens that the model has room for; 0: unknown
	limit   int      // tokens above which room is made
	protect int      // newest tokens that are never masked

	condensed int             // index in msgs: messages before it, but for the head, are left out; 0: none are
	digest    string          // of those that are left out
	words     []presidentWord // messages of the president
	lasting   map[string]bool // tools whose calls a digest keeps
	roomMade  int             // request before which room was made last; 0: never
	clearings int             // how often something has left the context

	final     json.RawMessage
	finalTool string
	escalated bool
}

// pendingCall is a call that waits for its result. A call with refuse set is not
// run: refuse says why.
type pendingCall struct {
	adapters.ToolCall        // with the first MaxArguments bytes of what the model wrote
	written           string // its arguments as the model wrote them
	refuse            string
	reply, part       int // the number of its reply, and its own in there, from 1
}

func newConversation(cfg config) *conversation {
	c := &conversation{cfg: cfg, ids: map[string]bool{}, told: map[noteTopic]int{}, known: map[string]string{}, lasting: map[string]bool{}}
	c.log = Transcript{RunID: cfg.Run, AgentID: cfg.Agent}
	for _, t := range cfg.Tools {
		if t.Lasting {
			c.lasting[t.Spec.Name] = true
		}
		if t.Hidden {
			continue
		}
		c.toolCost += tokensOf(t.Spec.Name) + tokensOf(t.Spec.Description) + tokensOf(string(sendableSchema(t.Spec.Schema, t.Unsent...)))
	}
	info := cfg.model.Info()
	window := info.ContextTokens
	c.window = max(0, window)
	if window <= 0 {
		window = AssumedContext
	}
	// 80 % of the window, and room for the reply; but a model whose longest
	// reply fills half its window is not masked down to nothing.
	c.limit = max(min(window*8/10, window-info.MaxOutput), window/2)
	c.protect = min(protectTokens, c.limit/2)
	return c
}

func (c *conversation) addMessage(m adapters.Message) {
	c.msgs = append(c.msgs, m)
	c.tokens += messageTokens(m)
}

func (c *conversation) foldPrompt(r promptRecord, system, first string, shown []Shown) {
	if c.begun {
		return
	}
	c.begun, c.atFirst = true, shown
	c.driver, c.profile = r.Driver, r.Profile
	c.tokens = c.toolCost
	for _, m := range []adapters.Message{{Role: adapters.System, Content: system}, {Role: adapters.User, Content: first, Images: namedImages(r.Images)}} {
		if m.Role == adapters.System && m.Content == "" {
			continue
		}
		c.addMessage(m)
		c.log.addMessage(m.Role, m.Content, r.At)
	}
	for _, f := range r.Seen {
		c.known[f.Path] = f.Digest
	}
}

// namedImages are images without their data.
func namedImages(of []company.Attachment) (out []adapters.Image) {
	for _, a := range of {
		out = append(out, adapters.Image{Attachment: a})
	}
	return out
}

// foldCall folds that a call was begun. It leaves other open calls open: requests may run side
// by side.
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

// foldOpened folds that a process took the run up. No reply will come to calls of an earlier one.
func (c *conversation) foldOpened() {
	for _, n := range slices.Sorted(maps.Keys(c.open)) {
		c.settleCall(n, c.open[n].Worst)
	}
}

// settledCall is what a call cost.
type settledCall struct {
	n    int
	cost company.Amount
}

// settleCall counts what a call cost, for its model, and closes it. A cost without a call counts
// for no model.
func (c *conversation) settleCall(n int, cost company.Amount) {
	c.spent = c.spent.Add(cost)
	c.settled = append(c.settled, settledCall{n, cost})
	if m := c.spendingOf(c.open[n].Model); m != nil {
		m.Spent = m.Spent.Add(cost)
	}
	delete(c.open, n)
}

// spendingOf returns the entry of a model in byModel. It is nil for an empty name.
func (c *conversation) spendingOf(model string) *company.ModelSpent {
	if model == "" {
		return nil
	}
	i := slices.IndexFunc(c.byModel, func(m company.ModelSpent) bool { return m.Model == model })
	if i < 0 {
		i = len(c.byModel)
		c.byModel = append(c.byModel, company.ModelSpent{Model: model})
	}
	return &c.byModel[i]
}

func (c *conversation) foldUsage(r replyRecord) {
	call, known := c.open[r.N]
	// A cost that cannot be is one of a call without a count.
	if known {
		r.Spent = r.Spent.Countable(call.Worst)
	}
	c.usage = c.usage.Add(r.Usage)
	c.settleCall(r.N, r.Spent)
	if m := c.spendingOf(call.Model); m != nil {
		addCounts(m, r)
	}
}

// foldLost counts what the run was granted as spent, where less is known.
func (c *conversation) foldLost(r lostRecord) {
	spent := c.totalSpent()
	for n, call := range c.open {
		c.settled = append(c.settled, settledCall{n, call.Worst})
	}
	clear(c.open)
	c.spent = spent.Add(r.Granted.Sub(spent))
}

// addCounts counts the tokens that a model's server counted, and keeps the name that it gave to
// its model.
func addCounts(m *company.ModelSpent, r replyRecord) {
	if !r.Usage.Estimated {
		m.Input = int64(adapters.AddTokens(int(m.Input), r.Usage.InputTokens))
		m.Cached = int64(adapters.AddTokens(int(m.Cached), r.Usage.CachedTokens))
	}
	last := m.Model
	if n := len(m.Served); n > 0 {
		last = m.Served[n-1]
	}
	if r.Model != "" && r.Model != last && len(m.Served) < maxServed {
		m.Served = append(m.Served, safetext.Cut(r.Model, 200))
	}
}

// maxServed bounds the names of one model that are recorded.
const maxServed = 8

// foldError folds an error that came instead of a reply.
func (c *conversation) foldError(r replyRecord) {
	c.foldUsage(r)
	switch r.Error {
	case adapters.TooLong:
		c.tooLong++
		// The window is smaller than was thought: mask earlier from now on.
		c.limit = min(c.limit, max(c.tokens*8/10, 1))
		c.protect = min(c.protect, c.limit/2)
	case adapters.MalformedReply:
		c.empty++
	}
}

// foldReply folds a reply.
func (c *conversation) foldReply(r replyRecord, m adapters.Message) {
	c.foldUsage(r)
	if r.Textual != "" && !slices.Contains(c.textual, r.Textual) {
		c.textual = append(c.textual, r.Textual)
	}
	c.tooLong, c.dropped, c.cut, c.asked = 0, 0, false, r.At
	c.written += replyBytes(m)
	c.inText = r.Textual != ""
	switch {
	case r.Finish == adapters.FinishFilter:
		c.filtered = true
		if m.Content != "" {
			c.log.addMessage(adapters.Assistant, m.Content, r.At)
		}
		return
	case isEmptyReply(m):
		c.empty++ // nothing to keep: a server may refuse an empty message when it is sent back
		return
	}
	c.empty = 0
	c.turns++
	c.cut = r.Finish == adapters.FinishLength
	whole := m.Content
	m.Role, m.Content, m.CallBytes = adapters.Assistant, safetext.HeadTail(m.TextBeforeCall(), maxContent), 0
	c.pending = nil
	if over := len(m.ToolCalls) - MaxCalls; over > 0 {
		c.dropped = over
		m.ToolCalls = m.ToolCalls[:MaxCalls]
	}
	calls := make([]adapters.ToolCall, len(m.ToolCalls))
	for i, call := range m.ToolCalls {
		p := pendingCall{ToolCall: call, written: call.Arguments, reply: r.N, part: i + 1}
		p.ID = c.uniqueID(call.ID, i)
		p.Name = wireName(call.Name)
		p.Arguments = safetext.Head(p.written, MaxArguments)
		switch {
		case c.cut:
			p.refuse = "not executed because the reply was cut at the model's output limit, so its arguments may be incomplete. Send it again in smaller pieces"
		case p.Name != call.Name:
			p.refuse = fmt.Sprintf("There is no tool %q. The tools are: %s", safetext.EscapeLine(call.Name, 64), c.toolNames())
		case len(p.written) > MaxArguments:
			p.refuse = fmt.Sprintf("not executed because its arguments have more than %d bytes. Do it in smaller pieces", MaxArguments)
		}
		c.pending = append(c.pending, p)
		// What goes back to the server is a JSON object whatever the model
		// wrote: some servers refuse the whole conversation otherwise.
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
	m.ToolCalls = calls
	if len(calls) == 0 {
		m.ToolCalls = nil
		c.silent++
		if !c.inText && c.seemsToCall(m.Content) {
			c.wrote++
		}
	} else {
		c.silent, c.wrote = 0, 0
	}
	c.reply = len(c.msgs)
	c.addMessage(m)
	// An estimate is an upper bound for the cost. For the size of the context
	// four bytes a token are nearer.
	if r.Usage.InputTokens > 0 && !r.Usage.Estimated {
		c.tokens = adapters.AddTokens(r.Usage.InputTokens, r.Usage.OutputTokens)
	}
	c.log.addMessage(m.Role, whole, r.At)
}

// replyBytes is how much a model has written in a reply.
func replyBytes(m adapters.Message) int {
	n := len(m.Content) + len(m.Opaque)
	for _, call := range m.ToolCalls {
		n += len(call.Name) + len(call.Arguments)
	}
	return n
}

// foldResult folds the result of a call. answer is the whole one where text only shows what
// changed.
func (c *conversation) foldResult(r toolRecord, text, answer string) error {
	at := -1
	for i, p := range c.pending {
		if p.ID == r.CallID {
			at = i
		}
	}
	if at < 0 {
		return company.E(company.EInternal, fmt.Sprintf("the journal answers a tool call %q that nobody asked for", r.CallID))
	}
	p := c.pending[at]
	c.pending = append(c.pending[:at:at], c.pending[at+1:]...)
	c.unanswered, c.finishRefused = false, r.NotRun && c.isFinishTool(p.Name)
	c.shown += len(text)
	c.wholes += r.WholeBytes
	text = cmp.Or(text, "(no output)") // empty content vanishes on some wires
	m := adapters.Message{Role: adapters.ToolRole, Content: text, ToolCallID: p.ID, ToolName: p.Name}
	size := tokensOf(text)
	res := result{msg: len(c.msgs), size: size, keep: r.Keep || size <= keepTokens, lasts: r.Keep, call: c.reply, changed: r.Changed, pointer: r.Same != "" || r.Answer != nil, argsHash: r.ArgsHash}
	if r.Seen != nil {
		res.path = r.Seen.Path
	}
	if short := clearedArguments(p.Arguments); short != "" && len(p.written) <= MaxArguments {
		res.args, res.won = short, tokensOf(p.Arguments)-tokensOf(short)
	}
	c.results = append(c.results, res)
	c.addMessage(m)
	switch { // all but the model has the result itself
	case r.Same != "":
		text = c.resultOf(r.Same, text)
	case r.Answer != nil:
		text = answer
	}
	if !r.NoLoop {
		c.seen = append(c.seen, callSignature(p.Name, p.Arguments, text))
		if countRepeats(c.seen) < c.cfg.NudgeAfter {
			c.nudged = false
		}
	}
	if r.Final != nil && c.final == nil {
		c.final, c.finalTool, c.escalated = r.Final, p.Name, r.Escalated
	}
	if r.Changed || r.Seen != nil {
		c.since = append(c.since, again{pendingCall: p, at: c.asked, text: text, changed: r.Changed, seen: r.Seen})
	}
	c.foldSaved(r.Saved)
	c.log.ToolCalls = append(c.log.ToolCalls, TranscriptCall{
		ID: p.ID, Name: p.Name, Arguments: p.written, Result: text, IsError: r.IsError, Failure: r.Failure,
		Timestamp: r.At, DurationMS: r.DurationMS, Whole: r.Whole,
	})
	return nil
}

// isFinishTool reports whether a tool hands the work in.
func (c *conversation) isFinishTool(name string) bool {
	return slices.ContainsFunc(c.cfg.Tools, func(t Tool) bool { return t.Finishes && t.Spec.Name == name })
}

// foldSaved folds that the state of the workspace was kept.
func (c *conversation) foldSaved(s *Saved) {
	if s == nil {
		return
	}
	for _, a := range c.since {
		if a.seen != nil {
			c.known[a.seen.Path] = a.seen.Digest
		}
	}
	c.since = nil
}

// foldRedone folds that calls were done again.
func (c *conversation) foldRedone(r redoneRecord) {
	for _, d := range r.Differ {
		for _, a := range c.since {
			if a.ID == d.CallID {
				c.differ = append(c.differ, unreportedDiff{a.Name, a.Arguments, d.Text})
			}
		}
	}
	c.foldSaved(r.Saved)
}

// foldNote folds something that the company tells the model: it goes into the
// newest user message, never between a call and its result.
func (c *conversation) foldNote(r noteRecord) {
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

// mostShown is how many bytes of one result the model is shown: a result alone fills a
// quarter of its context at most.
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

// totalSpent is what the run has cost. A call without a reply counts as its worst case.
func (c *conversation) totalSpent() company.Amount {
	sum := c.spent
	for _, call := range c.open {
		sum = sum.Add(call.Worst)
	}
	return sum
}

func (c *conversation) buildOutcome() Outcome {
	c.log.TotalTokens = adapters.AddTokens(c.usage.InputTokens, c.usage.OutputTokens)
	return Outcome{Turns: c.turns, Usage: c.usage, Spent: c.totalSpent(), Messages: c.msgs, Transcript: c.log, Heard: c.heard, ByModel: c.byModel, WroteCalls: c.wrote > 0}
}
