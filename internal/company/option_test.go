package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// gateOptions is a table with one kind of question, which has four options.
var gateOptions = OptionTable{"gate": {
	{Name: OptApprove, Means: "go on"},
	{Name: OptReject, Means: "fail the run"},
	{Name: "request_changes", Means: "again with your words", Input: InputNeedsWords},
	{Name: "abort", Means: "end the run", Confirm: true},
}}

// A kind with four options is answered by each of them, and by nothing else.
func TestFourOptions(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{
		OptApprove: "", OptReject: "", "abort": "",
		"request_changes": "a1 needs a text",
		OptAnswer:         "a1 must be answered with approve, reject, request_changes or abort",
		"":                "a1 must be answered with",
	} {
		l := newLine(t, Settings{})
		for _, s := range []*State{l.s, l.shadow, l.thawed} {
			s.UseOptions(gateOptions)
		}
		l.apply(Meta{Now: l.now}.NewEvent(
			lineTask, "", "", &ApprovalOpened{ID: "a1", Key: "gate", AskKind: "gate", Question: "Go on?"}))
		answer := Answer{Approval: "a1", Option: option}
		if want != "" {
			if _, err := l.do(President, answer); CodeOf(err) != EInvalid || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", option, err)
			}
			continue
		}
		l.must(President, answer)
		if a := l.s.View().Approvals["a1"]; a.Open() || a.Option != option {
			t.Errorf("%q: %+v", option, a)
		}
	}
	s := NewState()
	s.UseOptions(gateOptions)
	if got := s.View().OptionsOf(&Approval{Kind: "gate"}); len(got) != 4 || got[3].Name != "abort" {
		t.Errorf("a view offers %+v", got)
	}
}
