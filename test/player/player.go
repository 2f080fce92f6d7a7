// Command player plays a model of fixed skill for the bench of real work. It reads requests
// from its standard input and writes replies to its standard output, one JSON object a line.
//
// It has no memory: a reply depends on the request, the cases it knows, and the seed. It does
// not know its asker. Of a case it knows the solution, and uses a change only once the request
// shows the lines that the change replaces. Mistakes are drawn by the seed and the place of
// the change, so that they are the same whoever asks; one is corrected only when the request
// shows the failing test, or a finding about it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Request is what a model is asked.
type Request struct {
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools"`
}

// Message is one message of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user, assistant or tool
	Content string `json:"content"`
	Calls   []Call `json:"calls,omitempty"`
}

// Tool is a tool on offer.
type Tool struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Call is a call of a tool.
type Call struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// Reply is what the model says.
type Reply struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
}

// Skill says how good the player is.
type Skill struct {
	Seed    uint64
	Mistake float64 // share of the parts in which a mistake is made that their own tests show
	Subtle  float64 // share of the parts in which a mistake is made that only hidden tests show
	Finds   float64 // p: share of the mistakes in a diff that a review finds
	False   float64 // q: share of the parts in which a review finds a fault without need
	// command that the player takes for that of the tests, until it fails or a note says so; empty: it knows
	Guess string
}

func main() {
	var s Skill
	flag.Uint64Var(&s.Seed, "seed", 1, "draws the mistakes")
	flag.Float64Var(&s.Mistake, "mistake", 0, "rate of mistakes that tests show")
	flag.Float64Var(&s.Subtle, "subtle", 0, "rate of mistakes that only hidden tests show")
	flag.Float64Var(&s.Finds, "finds", 0.5, "rate at which a review finds a mistake")
	flag.Float64Var(&s.False, "false", 0, "rate at which a review finds what is not wrong")
	flag.StringVar(&s.Guess, "guess", "", "command that is tried before that of the tests, and does not work")
	flag.Parse()
	cases, err := readCases(flag.Args())
	if err == nil {
		err = serve(os.Stdin, os.Stdout, s, cases)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "player:", err)
		os.Exit(1)
	}
}

// serve answers each request of r.
func serve(r io.Reader, w io.Writer, s Skill, cases []Case) error {
	in, out := bufio.NewReader(r), json.NewEncoder(w)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := out.Encode(s.Answer(q, cases)); err != nil {
			return err
		}
	}
}

// drawChance says whether something happens that has this rate. The same names always give the same.
func (s Skill) drawChance(rate float64, names ...string) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s", s.Seed, strings.Join(names, "/"))
	return float64(h.Sum64()%10_000)/10_000 < rate
}

// Answer is the reply to a request.
func (s Skill) Answer(q Request, cases []Case) Reply {
	t := newTalk(q)
	i := slices.IndexFunc(cases, t.isAbout)
	if i < 0 {
		return Reply{Text: "I do not know this work."}
	}
	w := work{Skill: s, talk: t, c: cases[i]}
	w.parts = w.listOwnParts()
	switch {
	case t.offers("edit_file"):
		return w.engineer()
	case t.offers("submit_summary"):
		return call("submit_summary", "summary", "Both sides change the same lines: keep one of them.")
	case t.offers("submit_review"):
		return w.review()
	case t.offers("submit_plan"):
		return w.plan()
	case t.offers("guide_worker"):
		return w.decide()
	}
	return Reply{Text: "There is no tool that I could use."}
}

// talk is a request, read.
type talk struct {
	Request
	all   string // of all messages, without the marks before their lines
	plain string // all, with single spaces
	after string // plain, without the lines that a diff takes out
}

// lineMark is what stands before a line that is shown: its number, or the plus of a diff.
var lineMark = regexp.MustCompile(`(?m)^(?: *\d+(?:: |:|\t| \| )|\+)`)

// removedLine is a line that a diff takes out.
var removedLine = regexp.MustCompile(`(?m)^-.*\n`)

func newTalk(q Request) talk {
	t := talk{Request: q}
	var b strings.Builder
	for _, m := range q.Messages {
		b.WriteString(lineMark.ReplaceAllString(m.Content, "") + "\n")
	}
	t.all = b.String()
	t.plain = flatten(t.all)
	t.after = flatten(removedLine.ReplaceAllString(t.all, ""))
	return t
}

// isAbout says whether a request is about a case: it quotes the instruction, or a ticket for a
// part of it.
func (t talk) isAbout(c Case) bool {
	return t.shows(c.Knows) || slices.ContainsFunc(
		c.Parts, func(p Part) bool { return strings.Contains(t.all, marker(p)) })
}

// flatten has a single space wherever there is white space.
func flatten(s string) string { return strings.Join(strings.Fields(s), " ") }

func (t talk) offers(name string) bool {
	return slices.ContainsFunc(t.Tools, func(o Tool) bool { return o.Name == name })
}

// shows says whether the lines of a text have been shown, whatever their indentation is.
func (t talk) shows(text string) bool { return strings.Contains(t.plain, flatten(text)) }

// countCalls is how many calls of this tool the conversation has.
func (t talk) countCalls(tool string, matches func(Call) bool) (n int) {
	for _, m := range t.Messages {
		for _, c := range m.Calls {
			if c.Tool == tool && (matches == nil || matches(c)) {
				n++
			}
		}
	}
	return n
}

// since is the text after the last call of one of these tools.
func (t talk) since(tools ...string) string {
	last := -1
	for i, m := range t.Messages {
		if slices.ContainsFunc(m.Calls, func(c Call) bool { return slices.Contains(tools, c.Tool) }) {
			last = i
		}
	}
	var b strings.Builder
	for _, m := range t.Messages[last+1:] {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// call is a reply of one call; its arguments are names and values.
func call(tool string, args ...any) Reply { return Reply{Calls: []Call{makeCall(tool, args...)}} }

func makeCall(tool string, args ...any) Call {
	c := Call{Tool: tool, Args: map[string]any{}}
	for i := 0; i+1 < len(args); i += 2 {
		c.Args[args[i].(string)] = args[i+1]
	}
	return c
}

// work is a request about a case.
type work struct {
	Skill
	talk
	c     Case
	parts []Part // that the request is about
}

// marker names a part in the tickets that this player plans.
func marker(p Part) string { return "[part " + p.Key + "]" }

// listOwnParts lists the parts that a ticket marks as its own; all of them where none is marked.
func (w work) listOwnParts() []Part {
	var own []Part
	for _, p := range w.c.Parts {
		if strings.Contains(w.all, marker(p)) {
			own = append(own, p)
		}
	}
	if own == nil {
		return w.c.Parts
	}
	return own
}

// engineer reads, edits, tests, corrects, and hands in.
func (w work) engineer() Reply {
	if w.mayGiveAway() {
		return w.giveAway()
	}
	if r := w.readMissing(); r.Calls != nil {
		return r
	}
	if r := w.readSources(); r.Calls != nil {
		return r
	}
	var calls []Call
	for _, p := range w.parts {
		for _, e := range p.Edits {
			c := e.call(w.newTextOf(p, e))
			done := func(o Call) bool { return o.Args["path"] == e.File && o.Args["old"] == c.Args["old"] }
			if e.Old == "" {
				done = func(o Call) bool { return o.Args["path"] == e.File }
			}
			if w.countCalls(c.Tool, done) == 0 && !w.isWritten(p, e) {
				calls = append(calls, c)
			}
		}
	}
	if calls == nil {
		calls = w.listCorrections()
	}
	if calls != nil {
		return Reply{Calls: append(calls, w.runTests()...)}
	}
	if w.countCalls("run_command", isCommand(w.c.Test)) == 0 {
		return Reply{Calls: w.runTests()}
	}
	title := w.parts[0].Title
	if len(w.parts) > 1 {
		title = w.c.Title
	}
	var did []string
	for _, p := range w.parts {
		did = append(did, p.Did)
	}
	return call("finish", "summary", strings.Join(did, " ")+" "+w.c.Test+" passes.", "commit", title)
}

func isCommand(command string) func(Call) bool {
	return func(c Call) bool { return c.Args["command"] == command }
}

// runTests runs the tests: by a guess that fails, until the player knows better. It leaves a note then.
func (w work) runTests() []Call {
	tests := makeCall("run_command", "command", w.c.Test)
	lesson := fmt.Sprintf("%s does not work here, %s runs the tests.", w.Guess, w.c.Test)
	switch {
	case w.Guess == "" || strings.Contains(w.all, lesson):
		return []Call{tests}
	case w.countCalls("run_command", isCommand(w.Guess)) == 0:
		return []Call{makeCall("run_command", "command", w.Guess)}
	case w.offers("note") && w.countCalls("note", nil) == 0:
		return []Call{makeCall("note", "text", lesson), tests}
	}
	return []Call{tests}
}

// isWritten reports whether the request shows that a change is there already: a later conversation of the same ticket
// begins with the diff of its branch.
func (w work) isWritten(p Part, e Edit) bool {
	if e.Old == "" {
		return strings.Contains(w.all, "++ b/"+e.File+"\n") // the first plus is taken off
	}
	return w.shows(e.New) || strings.Contains(w.after, flatten(e.New)) ||
		strings.Contains(w.after, flatten(w.newTextOf(p, e)))
}

// newTextOf is what the player first writes for a change: the right text with the drawn mistakes.
func (w work) newTextOf(p Part, e Edit) string {
	text := e.New
	for _, m := range p.Mistakes {
		if m.File == e.File && strings.Contains(text, m.Right) && w.makesMistake(p, m) {
			text = strings.Replace(text, m.Right, m.Wrong, 1)
		}
	}
	return text
}

// makesMistake says whether the player makes a mistake.
func (w work) makesMistake(p Part, m Mistake) bool {
	rate := w.Mistake
	if m.Shows == "" {
		rate = w.Subtle
	}
	return w.drawChance(rate, w.c.Name, p.Key, m.File, m.Wrong)
}

// listCorrections lists the edits that undo mistakes which the request shows.
func (w work) listCorrections() (calls []Call) {
	shown := w.since("edit_file", "write_file")
	for _, p := range w.parts {
		for _, m := range p.Mistakes {
			seen := m.Shows != "" && strings.Contains(shown, m.Shows) || strings.Contains(shown, m.Finding)
			fix := makeCall("edit_file", "path", m.File, "old", m.Wrong, "new", m.Right)
			done := func(o Call) bool { return o.Args["path"] == m.File && o.Args["old"] == m.Wrong }
			if seen && w.makesMistake(p, m) && w.countCalls("edit_file", done) == 0 {
				calls = append(calls, fix)
			}
		}
		if c := p.Remark; c.File != "" && strings.Contains(shown, c.Finding) &&
			w.countCalls("edit_file", func(o Call) bool { return o.Args["new"] == c.Wrong }) == 0 {
			calls = append(calls, makeCall("edit_file", "path", c.File, "old", c.Right, "new", c.Wrong))
		}
	}
	return calls
}

// readMissing reads the lines that the changes of the player's parts replace, where no message has shown them.
func (w work) readMissing() (r Reply) {
	asked := map[string]bool{}
	for _, p := range w.parts {
		for _, e := range p.Edits {
			if e.Old == "" || w.shows(e.Old) || w.isWritten(p, e) || asked[fmt.Sprint(e.File, e.Line/200)] {
				continue
			}
			asked[fmt.Sprint(e.File, e.Line/200)] = true
			c := makeCall("read_file", "path", e.File, "offset", max(1, e.Line-30), "limit", 90)
			if n := w.countCalls("read_file", func(o Call) bool {
				return o.Args["path"] == e.File && fmt.Sprint(o.Args["offset"]) == fmt.Sprint(c.Args["offset"])
			}); n == 0 {
				r.Calls = append(r.Calls, c)
			}
		}
	}
	return r
}

// readSources reads the files that the player's parts are made from.
func (w work) readSources() (r Reply) {
	for _, p := range w.parts {
		for _, file := range p.Reads {
			isRead := func(c Call) bool { return c.Tool == "read_file" && c.Args["path"] == file }
			if w.countCalls("read_file", isRead) == 0 && !slices.ContainsFunc(r.Calls, isRead) {
				r.Calls = append(r.Calls, makeCall("read_file", "path", file))
			}
		}
	}
	return r
}

// review judges a diff: it finds the mistakes in it at its rate, and now and then one that is none.
func (w work) review() Reply {
	var findings []any
	find := func(m Mistake, about string) {
		findings = append(
			findings,
			map[string]any{"severity": "high", "category": "correctness", "file": m.File, "line": m.Line, "what": m.Finding,
				"why": about})
	}
	for _, p := range w.parts {
		for _, m := range p.Mistakes {
			if w.shows(m.Wrong) && !w.shows(m.Right) && w.drawChance(w.Finds, "review", w.c.Name, p.Key, m.Wrong) {
				find(m, "The instruction asks for it: "+p.Asks)
			}
		}
		if r := p.Remark; r.File != "" && !w.shows(r.Wrong) && w.drawChance(w.False, "remark", w.c.Name, p.Key) {
			find(r, "A reader needs it.")
		}
	}
	if w.countCalls("run_command", nil) == 0 && !strings.Contains(w.all, "passed") {
		return call("run_command", "command", w.c.Test)
	}
	if findings != nil {
		return call("submit_review", "verdict", "request_changes", "findings", findings)
	}
	var files []string
	for _, p := range w.parts {
		files = append(files, p.listFiles()...)
	}
	shown := fmt.Sprintf("`%s` passes, and the diff of %s has it", w.c.Test, strings.Join(files, ", "))
	return call("submit_review", "verdict", "approve", "evidence", w.nameEvidence(shown), "findings", []any{})
}

// nameEvidence names the same for each criterion: once where the tool takes their numbers, else
// as often as there are criteria.
func (w work) nameEvidence(shown string) []any {
	n := max(1, w.countCriteria())
	if i := slices.IndexFunc(w.Tools, func(t Tool) bool { return t.Name == "submit_review" }); i < 0 ||
		!strings.Contains(string(w.Tools[i].Schema), `"for"`) {
		return slices.Repeat([]any{shown}, n)
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i + 1
	}
	return []any{map[string]any{"for": numbers, "shows": shown}}
}

// countCriteria counts the items of the list of acceptance criteria.
func (w work) countCriteria() (n int) {
	for _, m := range w.Messages {
		if m.Role != "user" {
			continue
		}
		_, list, found := strings.Cut(m.Content, "\n## Acceptance criteria\n")
		for line := range strings.Lines(list) {
			if !found || strings.HasPrefix(line, "## ") {
				break
			}
			if strings.HasPrefix(line, "- ") || regexp.MustCompile(`^\d+\. `).MatchString(line) {
				n++
			}
		}
		return n
	}
	return n
}
