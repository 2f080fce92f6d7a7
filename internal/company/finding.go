package company

import (
	"cmp"
	"slices"
	"strings"
)

// Statuses of a finding (REV-4).
const (
	FindingUnverified = "unverified" // no later review has judged it
	FindingConfirmed  = "confirmed"  // a later review found it right and still there
	FindingMended     = "mended"     // a later review found it right, and fixed
	FindingRejected   = "rejected"   // a later review found it wrong
)

// maxPastFindings limits the stored findings of earlier reviews. The newest are kept.
const maxPastFindings = 100

// MaxFindings limits the findings of one review, so that the next reviewer can judge each of them.
const MaxFindings = 50

// Judgement is a review's verdict on a finding of the previous review.
type Judgement struct {
	Number int    `json:"number"`        // of the finding in the previous review, from 1
	Status string `json:"status"`        // confirmed | mended | rejected
	Why    string `json:"why,omitempty"` // the reviewer's reason
}

// JudgedFinding is a finding with its status.
type JudgedFinding struct {
	Finding
	Head   OID    `json:"head"`            // the head that it is about
	Status string `json:"status"`          // unverified | confirmed | mended | rejected
	Basis  string `json:"basis,omitempty"` // reason for the status
	// Mended is the head without a mended finding: the one that the later review was about.
	Mended OID `json:"mended,omitempty"`
}

// basisAgain is the basis of a finding that the next review reports again.
const basisAgain = "it found the same again"

// Findings returns the findings of all reviews, the oldest first. The newest review's findings are unverified: a
// reviewer of the next round judges them in a new conversation. If a second review of the same head confirmed findings,
// these come first.
func (r ReviewState) Findings() []JudgedFinding {
	out := slices.Clone(r.Past)
	if r.Last == nil {
		return out
	}
	confirmed := r.Last.listConfirmed()
	for i, f := range r.Last.Findings {
		judged := JudgedFinding{Finding: f, Head: r.Last.Head, Status: FindingUnverified}
		if i < len(confirmed) {
			judged.Status, judged.Basis = FindingConfirmed, confirmed[i].Why
		}
		out = append(out, judged)
	}
	return out
}

// addReview makes a review the newest one. It sets the status of the previous review's findings according to the new
// review.
func (r *ReviewState) addReview(recorded *ReviewRecorded) {
	r.Unconfirmed = ""
	past := r.Findings()
	for _, judgement := range recorded.Judged {
		if index := len(r.Past) + judgement.Number - 1; judgement.Number >= 1 && index < len(past) {
			past[index].Status, past[index].Basis = judgement.Status, judgement.Why
		}
	}
	for index := len(r.Past); index < len(past); index++ {
		finding := &past[index]
		isOpen := finding.Status == FindingUnverified || finding.Status == FindingMended
		if isOpen && slices.ContainsFunc(recorded.Findings, finding.isSame) {
			finding.Status, finding.Basis = FindingConfirmed, basisAgain
		}
		if finding.Status == FindingMended {
			finding.Mended = recorded.Head
		}
	}
	for _, j := range slices.Backward(recorded.listConfirmed()) {
		if index := len(r.Past) + j.Number - 1; j.Number >= 1 && index < len(past) {
			past = slices.Delete(past, index, index+1) // it is among the new findings
		}
	}
	r.Past, r.Last = past[max(0, len(past)-maxPastFindings):], recorded
}

// withdrawLast withdraws the newest review. Its findings are kept with their status.
func (r *ReviewState) withdrawLast() {
	if r.Last != nil {
		past := r.Findings()
		r.Past, r.Unconfirmed = past[max(0, len(past)-maxPastFindings):], ""
	}
	r.Last = nil
}

// isSame reports whether two findings have the same file and the same text.
func (f Finding) isSame(other Finding) bool {
	return f.File == other.File && titleKey(f.What) == titleKey(other.What)
}

// KeepConfirmed returns a later review that repeats the findings of the previous one that it confirms, because they
// still stand. Of more than MaxFindings it keeps blocking ones first.
func (r ReviewRecorded) KeepConfirmed(before []Finding) ReviewRecorded {
	r.Findings = slices.Clone(r.Findings)
	for _, judgement := range r.Judged {
		if judgement.Status != FindingConfirmed || judgement.CheckJudgement(len(before)) != nil {
			continue
		}
		if finding := before[judgement.Number-1]; !slices.ContainsFunc(r.Findings, finding.isSame) {
			r.Findings = append(r.Findings, finding)
		}
	}
	if len(r.Findings) > MaxFindings {
		slices.SortStableFunc(r.Findings, func(a, b Finding) int {
			return cmp.Compare(string(a.Severity), string(b.Severity)) // blocking, minor
		})
		r.Findings = r.Findings[:MaxFindings]
	}
	return r
}

// CheckJudgement refuses a verdict with an unknown status or without a required reason. findings is the number of
// findings of the previous review, and the verdict must be about one of them.
func (j Judgement) CheckJudgement(findings int) error {
	switch {
	case j.Number < 1 || j.Number > findings:
		return E(EInvalid, "unknown finding "+itoa(j.Number)+": the last review has "+Count(findings, "finding")).
			Fix("use the numbers of the last review's findings")
	case j.Status != FindingConfirmed && j.Status != FindingMended && j.Status != FindingRejected:
		return E(EInvalid, "a finding must be confirmed, mended or rejected")
	case j.Status == FindingRejected && strings.TrimSpace(j.Why) == "":
		return E(EInvalid, "finding "+itoa(j.Number)+" is rejected without a reason").
			Fix("say in why how you know that it was wrong")
	}
	return nil
}

// keepJudgements returns the valid verdicts on earlier findings. It drops verdicts on findings that the state does not
// have, because the reviewer read an older review.
func (r ReviewRecorded) keepJudgements(last *ReviewRecorded) []Judgement {
	findings := 0
	if last != nil {
		findings = len(last.Findings)
	}
	var out []Judgement
	for _, judgement := range r.Judged {
		twice := slices.ContainsFunc(out, func(other Judgement) bool { return other.Number == judgement.Number })
		if judgement.CheckJudgement(findings) == nil && !twice {
			out = append(out, judgement)
		}
	}
	return out
}
