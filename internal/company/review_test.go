package company_test

import (
	"testing"

	. "company/internal/company"
)

// A verdict goes with its findings, and each finding says what, where and why.
func TestReviewChecked(t *testing.T) {
	t.Parallel()
	good := Finding{Severity: Blocking, File: "a.go", Line: 3, What: "it divides by 0", Why: "n may be 0"}
	with := func(change func(*Finding)) ReviewRecorded {
		f := good
		change(&f)
		return ReviewRecorded{Verdict: RequestChanges, Findings: []Finding{f}}
	}
	minor := good
	minor.Severity = Minor
	for name, c := range map[string]struct {
		review ReviewRecorded
		ok     bool
	}{
		"changes for a reason":          {with(func(*Finding) {}), true},
		"why is said by the line":       {with(func(f *Finding) { f.Why = "" }), true},
		"why is said without a line":    {with(func(f *Finding) { f.Line = 0 }), true},
		"neither line nor why":          {with(func(f *Finding) { f.Line, f.Why = 0, " " }), false},
		"a line of no file":             {with(func(f *Finding) { f.File = "" }), false},
		"a line before the first":       {with(func(f *Finding) { f.Line = -1 }), false},
		"the last line":                 {with(func(f *Finding) { f.Line = MaxLine }), true},
		"a line after the last":         {with(func(f *Finding) { f.Line = MaxLine + 1 }), false},
		"it says nothing":               {with(func(f *Finding) { f.What = " " }), false},
		"of no severity":                {with(func(f *Finding) { f.Severity = "grave" }), false},
		"changes for a minor finding":   {ReviewRecorded{Verdict: RequestChanges, Findings: []Finding{minor}}, false},
		"approved, with a minor one":    {ReviewRecorded{Verdict: Approve, Findings: []Finding{minor}}, true},
		"approved, with a blocking one": {ReviewRecorded{Verdict: Approve, Findings: []Finding{good}}, false},
		"no verdict":                    {ReviewRecorded{Findings: []Finding{good}}, false},
	} {
		if err := c.review.Check(); (err == nil) != c.ok || err != nil && CodeOf(err) != EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The president is asked for leave to open the pull request when there is one
// to open, and not while the whole is still judged; where no leave is needed,
// never (REV-1).
func TestLeaveForThePullRequestIsAskedAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Ask, Auto} {
		s := newStory(t, Settings{PR: mode}).plan(1).queued(1)
		asked := func() bool {
			for _, w := range s.s.RequiredApprovals(s.task()) {
				if w.Kind == AskPR {
					return true
				}
			}
			return false
		}
		s.merged(1)
		s.checkStatus(StatusReviewing)
		if asked() {
			t.Errorf("%s: asked before the gates of the whole", mode)
		}
		s.must(Company, s.wholeGated(true))
		if asked() {
			t.Errorf("%s: asked before the review of the whole", mode)
		}
		s.reviewed(0, Approve)
		if asked() != (mode == Ask) {
			t.Errorf("%s: asked in the end: %v", mode, asked())
		}
	}
}
