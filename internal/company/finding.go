package company

import (
	"slices"
	"strings"
)

// Statuses of a finding (REV-4).
const (
	FindingUnverified = "unverified" // no later review has judged it
	FindingConfirmed  = "confirmed"  // a later review found it right, mended or not
	FindingRejected   = "rejected"   // a later review found it wrong
)

// maxPastFindings bounds the findings of earlier reviews that a state keeps: the newest.
const maxPastFindings = 100

// Judgement is the verdict of a review on a finding of the review before.
type Judgement struct {
	Number int    `json:"number"`        // of the finding in the review before, from 1
	Status string `json:"status"`        // confirmed | rejected
	Why    string `json:"why,omitempty"` // in the reviewer's words
}

// JudgedFinding is a finding with its status.
type JudgedFinding struct {
	Finding
	Head   OID    `json:"head"`            // that it is about
	Status string `json:"status"`          // unverified | confirmed | rejected
	Basis  string `json:"basis,omitempty"` // why it has that status
}

// basisAgain is the basis of a finding that the next review has again.
const basisAgain = "it found the same again"

// Findings lists the findings of all reviews, the oldest first. Those of the newest are
// unverified: a reviewer of the next round, in a conversation of its own, judges them.
// Of a second review on the same head those come first that it has confirmed.
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

// addReview makes a review the newest one, and gives the findings of the one before the
// status that this one lends them. Tasks of older rules keep the newest review alone, so that
// their ledgers and archives hold the same as ever.
func (r *ReviewState) addReview(d *ReviewRecorded, settings Settings) {
	r.Unconfirmed = ""
	if settings.Rules < 3 {
		r.Last = d
		return
	}
	past := r.Findings()
	for _, j := range d.Judged {
		if at := len(r.Past) + j.Number - 1; j.Number >= 1 && at < len(past) {
			past[at].Status, past[at].Basis = j.Status, j.Why
		}
	}
	for at := len(r.Past); at < len(past); at++ {
		if past[at].Status == FindingUnverified && slices.ContainsFunc(d.Findings, past[at].isSame) {
			past[at].Status, past[at].Basis = FindingConfirmed, basisAgain
		}
	}
	for _, j := range slices.Backward(d.listConfirmed()) {
		if at := len(r.Past) + j.Number - 1; j.Number >= 1 && at < len(past) {
			past = slices.Delete(past, at, at+1) // it is among the findings of d
		}
	}
	r.Past, r.Last = past[max(0, len(past)-maxPastFindings):], d
}

// withdrawLast takes the newest review back. Its findings are kept with their status. Tasks of rules before 5
// lose them, so that their ledgers fold as ever.
func (r *ReviewState) withdrawLast(settings Settings) {
	if r.Last != nil && settings.Rules >= 5 {
		past := r.Findings()
		r.Past, r.Unconfirmed = past[max(0, len(past)-maxPastFindings):], ""
	}
	r.Last = nil
}

// isSame says whether two findings are of one place and one text.
func (f Finding) isSame(other Finding) bool {
	return f.File == other.File && titleKey(f.What) == titleKey(other.What)
}

// CheckJudgement refuses a verdict on a finding that the review before, with so many findings, did
// not have, and one that is neither confirmed nor rejected.
func (j Judgement) CheckJudgement(findings int) error {
	switch {
	case j.Number < 1 || j.Number > findings:
		return E(EInvalid, "finding "+itoa(j.Number)+" is judged, and the last review has "+Count(findings, "finding")).Fix("name findings of the last review by their numbers")
	case j.Status != FindingConfirmed && j.Status != FindingRejected:
		return E(EInvalid, "a finding of the last review is confirmed or rejected")
	case j.Status == FindingRejected && strings.TrimSpace(j.Why) == "":
		return E(EInvalid, "finding "+itoa(j.Number)+" is rejected without a reason").Fix("say in why what shows that it was wrong")
	}
	return nil
}

// keepJudgements leaves verdicts on earlier findings out where the state has no such finding:
// the reviewer read an older review.
func (r ReviewRecorded) keepJudgements(last *ReviewRecorded) []Judgement {
	findings := 0
	if last != nil {
		findings = len(last.Findings)
	}
	var out []Judgement
	for _, j := range r.Judged {
		twice := slices.ContainsFunc(out, func(other Judgement) bool { return other.Number == j.Number })
		if j.CheckJudgement(findings) == nil && !twice {
			out = append(out, j)
		}
	}
	return out
}
