package company

import (
	"slices"
	"strings"
)

// Names of options.
const (
	OptApprove = "approve"
	OptReject  = "reject"
	OptAnswer  = "answer" // in words alone
	OptWait    = "wait"
	// OptWrite writes the line that the question names into the operator's own config, and
	// tries again with it. The process that holds the office writes the line before the answer counts.
	OptWrite = "write"

	OptWithdrawn = "withdrawn" // by the company: what it asked about is no more
)

// Option is one way to answer a question.
type Option struct {
	Name    string      `json:"name"`              // what an Answer names
	Means   string      `json:"means"`             // what it does
	Input   OptionInput `json:"input,omitempty"`   // what is given beside it; empty: nothing
	Confirm bool        `json:"confirm,omitempty"` // it may end the task: who gives it is asked once more
}

// OptionInput is what a person may give beside an option.
type OptionInput string

const (
	InputWords      OptionInput = "words"       // a text, which reaches the one that asked
	InputNeedsWords OptionInput = "needs_words" // a text, without which there is no answer
	InputAmount     OptionInput = "amount"      // how much a cap is raised by
)

// AcceptsWords reports whether a text beside the option reaches an agent.
func (o Option) AcceptsWords() bool { return o.Input == InputWords || o.Input == InputNeedsWords }

// Label is the option for people: yes, no, answer, or its name with blanks.
func (o Option) Label() string {
	switch o.Name {
	case OptApprove:
		return "yes"
	case OptReject:
		return "no"
	}
	return strings.ReplaceAll(o.Name, "_", " ")
}

// OptionWord is an answer in a word: yes, no, answered, withdrawn, or the option's name with
// blanks.
func OptionWord(name string) string {
	switch name {
	case OptAnswer:
		return "answered"
	case OptWithdrawn:
		return "withdrawn"
	}
	return Option{Name: name}.Label()
}

// OptionTable holds the options of each kind of question, in the order in which they are
// offered. A new kind is a row here.
type OptionTable map[ApprovalKind][]Option

func approve(means string) Option { return Option{Name: OptApprove, Means: means} }
func reject(means string) Option  { return Option{Name: OptReject, Means: means} }

// ends marks an option that may end the task.
func (o Option) ends() Option {
	o.Confirm = true
	return o
}

func (o Option) takes(in OptionInput) Option {
	o.Input = in
	return o
}

// standardOptions are the options of an office that has no other table.
var standardOptions = OptionTable{
	AskPlan:          {approve("work on it"), reject("plan anew with your words, or cancel without any").takes(InputWords).ends()},
	AskMerge:         {approve("merge it"), reject("back to the worker with your words").takes(InputWords)},
	AskProtected:     {approve("merge it, what is protected included"), reject("back to the worker with your words").takes(InputWords)},
	AskPR:            {approve("open the pull request"), reject("cancel the task; the branch stays").ends()},
	AskNoGates:       {approve("go on untested"), reject("give the task up").ends()},
	AskBudget:        {approve("raise the cap").takes(InputAmount), reject("cancel the task").ends()},
	AskBlocked:       {approve("try again, with your words").takes(InputWords), reject("give the task up").ends()},
	AskMergeConflict: {approve("try again, with your words").takes(InputWords), reject("give the task up").ends()},
	AskReview:        {approve("let it pass"), reject("give the task up").ends()},
	AskGates:         {approve("have it mended once more, with your words").takes(InputWords), reject("give the task up").ends()},
	AskUnread: {approve("let it pass, unverified"),
		reject("have it mended with your words, or give the task up without any").takes(InputWords).ends()},
	AskRedGreen: {approve("let it pass without such a test"),
		reject("back to the worker with your words, or give the task up without any").takes(InputWords).ends()},
	AskTrouble: {approve("try again"), reject("give the task up").ends()},
	AskHeld:    {approve("push it as it is; that you said so is recorded"), reject("give the task up").ends()},
	AskOtherBase: {approve("open the pull request into the branch that is named, or into the old one if that is back"),
		reject("give the task up").ends()},

	AskClarification: {{Name: OptAnswer, Means: "in your words", Input: InputNeedsWords}},

	AskDayBudget:    {approve("raise the cap of this day").takes(InputAmount), reject("leave it: the work goes on at midnight")},
	AskOfficeBudget: {approve("raise the cap of the office").takes(InputAmount), reject("leave it: the work rests until company budget add --office")},

	AskAfter: {approve("begin without it"), {Name: OptWait, Means: "wait on: it begins once that is retried and merged; or cancel it later"},
		reject("cancel the task").ends()},

	AskDependencyLeave: {approve("let it be added"), reject("go on without it; your words reach the worker").takes(InputWords)},
}

// UseOptions gives the state another table of options. A nil table means the standard one.
// The table is not part of the state's record.
func (s *State) UseOptions(table OptionTable) { s.options = table }

// OptionsOf lists how a question can be answered, in the order in which it is offered.
func (s *State) OptionsOf(a *Approval) []Option {
	table := standardOptions
	if s.options != nil {
		table = s.options
	}
	options := slices.Clone(table[a.Kind])
	if a.Line != nil { // behind the yes, which changes nothing
		options = slices.Insert(options, min(1, len(options)), Option{Name: OptWrite, Means: "write the line into your own file, and try again with it"})
	}
	return options
}

// checkOption refuses an answer that the question does not offer.
func (s *State) checkOption(a *Approval, c Answer) error {
	options := s.OptionsOf(a)
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	at := slices.Index(names, c.Option)
	if len(options) == 1 {
		at = 0 // whatever was named: the answer says what is missing
	}
	switch {
	case at >= 0 && options[at].Input == InputNeedsWords && (names[at] != c.Option || strings.TrimSpace(c.Text) == ""):
		return E(EInvalid, string(a.ID)+" asks for words").Fix(`company answer ` + string(a.ID) + ` "…"`)
	case at < 0 || names[at] != c.Option:
		fix := "company show " + string(a.ID) + " tells what each answer does"
		if slices.Contains(names, OptApprove) {
			fix = "company approve " + string(a.ID) + "; " + fix
		}
		return E(EInvalid, string(a.ID)+" is answered with "+joinOr(names)).Fix(fix)
	}
	return nil
}

// joinOr joins names as a sentence does: approve, reject or abort.
func joinOr(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
