package company

import (
	"slices"
	"strings"
)

// Names of options.
const (
	OptApprove = "approve"
	OptReject  = "reject"
	OptAnswer  = "answer" // only with a text
	OptWait    = "wait"
	// OptWrite writes the config line that the question names into the operator's own config, and retries with it. The
	// process that holds the office writes the line before the answer counts.
	OptWrite = "write"

	OptWithdrawn = "withdrawn" // set by the company when the reason for the question is gone
)

// Option is one way to answer a question.
type Option struct {
	Name    string      `json:"name"`              // name in an Answer
	Means   string      `json:"means"`             // effect of the option
	Input   OptionInput `json:"input,omitempty"`   // input beside the option; empty means none
	Confirm bool        `json:"confirm,omitempty"` // it may end the task, so ask for confirmation
}

// OptionInput is the kind of input that a person may give with an option.
type OptionInput string

const (
	InputWords      OptionInput = "words"       // an optional text, which the asking agent receives
	InputNeedsWords OptionInput = "needs_words" // a required text
	InputAmount     OptionInput = "amount"      // the raise of a cap
)

// AcceptsWords reports whether the option accepts a text for an agent.
func (o Option) AcceptsWords() bool { return o.Input == InputWords || o.Input == InputNeedsWords }

// Label returns the option's name for people: yes, no, answer, or its name with spaces.
func (o Option) Label() string {
	switch o.Name {
	case OptApprove:
		return "yes"
	case OptReject:
		return "no"
	}
	return strings.ReplaceAll(o.Name, "_", " ")
}

// OptionWord returns the short form of an answer: yes, no, answered, withdrawn, or the option's name with spaces.
func OptionWord(name string) string {
	switch name {
	case OptAnswer:
		return "answered"
	case OptWithdrawn:
		return "withdrawn"
	}
	return Option{Name: name}.Label()
}

// OptionTable holds the options of each kind of question, in the order in which they are offered. A new kind needs a
// row here.
type OptionTable map[ApprovalKind][]Option

func approve(means string) Option { return Option{Name: OptApprove, Means: means} }
func reject(means string) Option  { return Option{Name: OptReject, Means: means} }

// ends marks an option that may end the task.
func (o Option) ends() Option {
	o.Confirm = true
	return o
}

func (o Option) takes(optionInput OptionInput) Option {
	o.Input = optionInput
	return o
}

// standardOptions holds the options of an office without its own table.
var standardOptions = OptionTable{
	AskPlan: {approve("work on it"),
		reject("plan again with your comment, or cancel without one").takes(InputWords).ends()},
	AskMerge: {approve("merge it"), reject("back to the worker with your words").takes(InputWords)},
	AskProtected: {approve("merge it, what is protected included"),
		reject("back to the worker with your words").takes(InputWords)},
	AskPR:            {approve("open the pull request"), reject("cancel the task; the branch stays").ends()},
	AskNoGates:       {approve("go on untested"), reject("give the task up").ends()},
	AskBudget:        {approve("raise the cap").takes(InputAmount), reject("cancel the task").ends()},
	AskBlocked:       {approve("try again, with your words").takes(InputWords), reject("give the task up").ends()},
	AskMergeConflict: {approve("try again, with your words").takes(InputWords), reject("give the task up").ends()},
	AskReview:        {approve("let it pass"), reject("give the task up").ends()},
	AskGates: {approve("have it mended once more, with your words").takes(InputWords),
		reject("give the task up").ends()},
	AskUnread: {approve("let it pass, unverified"),
		reject("have it mended with your words, or give the task up without any").takes(InputWords).ends()},
	AskRedGreen: {approve("let it pass without such a test"),
		reject("back to the worker with your words, or give the task up without any").takes(InputWords).ends()},
	AskTrouble: {approve("try again"), reject("give the task up").ends()},
	AskHeld:    {approve("push it as it is; that you said so is recorded"), reject("give the task up").ends()},
	AskOtherBase: {approve("open the pull request into the branch that is named, or into the old one if that is back"),
		reject("give the task up").ends()},

	AskClarification: {{Name: OptAnswer, Means: "in your words", Input: InputNeedsWords}},

	AskDayBudget: {approve("raise the cap of this day").takes(InputAmount),
		reject("leave it: the work goes on at midnight")},
	AskOfficeBudget: {approve("raise the cap of the office").takes(InputAmount),
		reject("leave it: the work rests until company budget add --office")},

	AskAfter: {approve("begin without it"),
		{Name: OptWait, Means: "wait on: it begins once that is retried and merged; or cancel it later"},
		reject("cancel the task").ends()},

	AskDependencyLeave: {approve("let it be added"),
		reject("go on without it; your words reach the worker").takes(InputWords)},
}

// UseOptions sets the table of options. A nil table means the standard one. The table is not stored with the state.
func (s *State) UseOptions(table OptionTable) { s.options = table }

// OptionsOf returns the options of a question, in the order in which they are offered.
func (s *State) OptionsOf(approval *Approval) []Option {
	table := standardOptions
	if s.options != nil {
		table = s.options
	}
	options := slices.Clone(table[approval.Kind])
	if approval.Line != nil { // after the yes, which changes no config
		options = slices.Insert(options, min(1, len(options)),
			Option{Name: OptWrite, Means: "write the line into your own file, and try again with it"})
	}
	return options
}

// checkOption refuses an answer that the question does not offer.
func (s *State) checkOption(approval *Approval, answer Answer) error {
	options := s.OptionsOf(approval)
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	index := slices.Index(names, answer.Option)
	if len(options) == 1 {
		index = 0 // whichever name was given, the error names the missing input
	}
	switch {
	case index >= 0 && options[index].Input == InputNeedsWords &&
		(names[index] != answer.Option || strings.TrimSpace(answer.Text) == ""):
		return E(EInvalid, string(approval.ID)+" needs a text as its answer").Fix(`company answer ` + string(approval.ID) + ` "…"`)
	case index < 0 || names[index] != answer.Option:
		fix := "company show " + string(approval.ID) + " explains each answer"
		if slices.Contains(names, OptApprove) {
			fix = "company approve " + string(approval.ID) + "; " + fix
		}
		return E(EInvalid, string(approval.ID)+" must be answered with "+joinOr(names)).Fix(fix)
	}
	return nil
}

// joinOr joins names for a sentence: approve, reject or abort.
func joinOr(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
