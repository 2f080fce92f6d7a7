package company_test

import (
	"fmt"
	"strings"
	"testing"

	. "company/internal/company"
)

// REV-4: a finding is unverified until a later review confirms or rejects it, or finds it again.
// The status follows from the reviews alone; a word on a finding that is not there is dropped.
func TestFindingsHaveAStatus(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(true)
	finding := func(what string) Finding {
		return Finding{Severity: Blocking, File: "a.go", Line: 3, What: what, Why: "the ticket asks for it"}
	}
	statuses := func() string {
		var out []string
		for _, f := range l.sub().Review.Findings() {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", f.What, f.Status, f.Basis), ": "))
		}
		return strings.Join(out, "; ")
	}
	l.judge(RequestChanges, nil, finding("no test"), finding("no doc"), finding("a race"), finding("slow"))
	if got := statuses(); got != "no test unverified; no doc unverified; a race unverified; slow unverified" {
		t.Fatal(got)
	}
	head := l.sub().Head
	l.success(l.work())
	l.gate(true)
	l.judge(RequestChanges,
		[]Judgement{{Number: 1, Status: FindingConfirmed}, {Number: 2, Status: FindingRejected, Why: "it is in doc.go"},
			{Number: 9, Status: FindingRejected, Why: "none"}, {Number: 2, Status: FindingConfirmed}}, finding("A  race"))
	const second = "no test confirmed; no doc rejected: it is in doc.go; a race confirmed: it found the same again; " +
		"slow unverified; "
	if got := statuses(); got != second+"A  race unverified" {
		t.Fatal(got)
	}
	if past := l.sub().Review.Past; len(past) != 4 || past[0].Head != head || l.sub().Head == head {
		t.Errorf("%+v", past)
	}
	if said := l.sub().Review.Last.Judged; len(said) != 2 {
		t.Errorf("the event has words on findings that are not there, or two on one: %+v", said)
	}
	l.success(l.work())
	l.gate(true)
	l.judge(Approve, []Judgement{{Number: 1, Status: FindingConfirmed, Why: "it is locked now"}})
	if got := statuses(); got != second+"A  race confirmed: it is locked now" {
		t.Fatal(got)
	}
	if got := l.sub().Review.Findings(); len(got) != 5 {
		t.Errorf("%d findings", len(got))
	}
}

// What a reviewer may say of earlier findings (REV-4).
func TestJudgementsAreChecked(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]Judgement{
		"": {Number: 2, Status: FindingRejected, Why: "the input cannot be empty"},
		"unknown finding 3: the last review has 2": {Number: 3, Status: FindingConfirmed},
		"unknown finding 0":                        {Status: FindingConfirmed},
		"confirmed, mended or rejected":            {Number: 1, Status: FindingUnverified},
		"rejected without a reason":                {Number: 1, Status: FindingRejected, Why: " "},
	} {
		if err := j.CheckJudgement(2); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// A finding that the next review calls mended has that status and the head of that review. If the review also reports
// it again, it is still there.
func TestMendedFindingsNameTheirCommit(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(true)
	finding := func(what string) Finding {
		return Finding{Severity: Blocking, File: "a.go", Line: 3, What: what, Why: "the ticket asks for it"}
	}
	l.judge(RequestChanges, nil, finding("no test"), finding("a race"))
	first := l.sub().Head
	l.success(l.work())
	l.gate(true)
	l.judge(RequestChanges,
		[]Judgement{{Number: 1, Status: FindingMended, Why: "TestLimit has it"}, {Number: 2, Status: FindingMended}},
		finding("a race"))
	second := l.sub().Head
	past := l.sub().Review.Past
	if len(past) != 2 || past[0].Status != FindingMended || past[0].Head != first || past[0].Mended != second ||
		past[0].Basis != "TestLimit has it" {
		t.Fatalf("%+v", past)
	}
	if past[1].Status != FindingConfirmed || past[1].Mended != "" {
		t.Errorf("found again, and yet %+v", past[1])
	}
	l.success(l.work())
	l.gate(true)
	l.judge(Approve, []Judgement{{Number: 1, Status: FindingMended}})
	past = l.sub().Review.Past
	if last := past[len(past)-1]; last.Status != FindingMended || last.Mended != l.sub().Head {
		t.Errorf("%+v", last)
	}
	if past[0].Mended != second {
		t.Errorf("a later review moved the commit: %+v", past[0])
	}
}

// Nothing is mended between two reviews of the same head: the second reviewer confirms what it calls mended.
func TestSecondReviewerMendsNothing(t *testing.T) {
	t.Parallel()
	before := ReviewRecorded{Verdict: RequestChanges, Findings: secondFindings()[:1]}
	said, err := ReviewRecorded{Verdict: RequestChanges, Judged: []Judgement{{Number: 1, Status: FindingMended}}}.
		ConfirmReview(before, ConfirmBlocking)
	if err != nil || said.Judged[0].Status != FindingConfirmed || len(said.Findings) != 1 {
		t.Errorf("%+v, %v", said, err)
	}
}
