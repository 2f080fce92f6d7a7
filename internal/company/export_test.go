package company

import (
	"reflect"
	"time"
)

// What the tests of package company_test see beside what is exported. They are
// outside because they watch each history with internal/company/historytest, which
// imports this package.

const (
	EndedOddly        = endedOddly
	MaxLine           = maxLine
	MaxPlanProblems   = maxPlanProblems
	MaxQuestion       = maxQuestion
	MaxFeedbackBytes  = maxFeedbackBytes
	MaxFeedbackItems  = maxFeedbackItems
	MaxTitle          = maxTitle
	MaxVerdicts       = maxVerdicts
	MaxCommands       = maxCommands
	AskTroubleFailure = askTroubleFailure
)

var (
	AppendInput = appendInput
	EventKinds  = kinds
	OneWord     = oneWord
	QuoteWords  = quoteWords

	StandardOptions = standardOptions
)

func (c GateCheck) NamesFailures() bool { return c.namesFailures() }
func (m Meta) NewEvent(t TaskID, sub SubtaskID, run RunID, d Data) Event {
	return m.newEvent(t, sub, run, d)
}
func (m Meta) Day(s *State) string                                    { return m.budgetDay(s) }
func (m Meta) DayEnds() time.Time                                     { return m.dayEnds() }
func (r *Run) FailKey() string                                        { return r.failKey() }
func (s Settings) HardDeadline(claimed time.Time) time.Time           { return s.hardDeadline(claimed) }
func (s *State) CacheResult(r GateResult)                             { s.cacheResult(r) }
func (s *State) LeadIDOf(id TaskID) TaskID                            { return s.leadIDOf(id) }
func (s *State) MergeQuestion(t *Task, sub *Subtask) *PendingQuestion { return s.mergeQuestion(t, sub) }
func (s *State) NextInMergeQueue(t *Task) *Subtask                    { return s.nextInMergeQueue(t) }
func (s *State) OfficeQuestion(t *Task) *PendingQuestion              { return s.officeQuestion(t) }
func (s *State) NoteCommand(id string, t TaskID)                      { s.noteCommand(id, t) }
func (s *State) OnOffer(r *Run) bool                                  { return s.onOffer(r) }
func (s *State) RequiredApprovals(t *Task) []PendingQuestion          { return s.requiredApprovals(t) }
func (s *State) UnderWay(t *Task) bool                                { return s.underWay(t) }
func (s *State) WaivedChecks(t *Task) WaiverFunc                      { return s.waivedChecks(t) }
func (t *Task) KnowsLeaveNeed(sub *Subtask) bool {
	return sub.leave.isOf(sub.Changes) && reflect.DeepEqual(sub.leave, t.findLeaveNeed(sub.Changes))
}
func (t *Task) GatePassed() bool                            { return t.gatePassed() }
func (t *Task) RetriesExhausted(key string, f Failure) bool { return t.retriesExhausted(key, f) }
func (t *Task) SortedRuns() []*Run                          { return t.sortedRuns() }
