package company

import (
	"cmp"
	"slices"
)

// Values of Settings.ConfirmReview. They select the findings that a second reviewer judges, on the same head and in one
// run, before the review takes effect.
const (
	ConfirmOff      = "off"      // none: the review takes effect at once
	ConfirmBlocking = "blocking" // blocking findings
	ConfirmAll      = "all"      // all findings, also of an approving review
)

// AwaitsSecondReview reports whether the newest review needs a second reviewer and has none yet (REV-4). A nil sub
// means the whole task. The review must be of the present head. A head that the president waived needs no second
// review. The result is derived from the reviews and the settings.
func (t *Task) AwaitsSecondReview(sub *Subtask) bool {
	review, head := &t.Review, t.Head
	if sub != nil {
		review, head = &sub.Review, sub.Head
	}
	last := review.Last
	switch {
	case last == nil || last.Head != head || last.Confirms:
		return false
	case review.Unconfirmed == head || review.Waived == head:
		return false
	case last.Verdict == Approve:
		return t.Settings.ConfirmReview == ConfirmAll && len(last.Findings) > 0
	}
	return t.Settings.ConfirmReview == ConfirmBlocking || t.Settings.ConfirmReview == ConfirmAll
}

// isWholeApproved reports whether the review of the whole allows the task to be delivered.
func (t *Task) isWholeApproved() bool {
	return t.Review.Allows(t.Head) && !t.AwaitsSecondReview(nil)
}

// ConfirmReview returns the second reviewer's verdict combined with the previous review. Confirmed findings come first,
// so that blocking ones still block the merge. A mended finding counts as confirmed, because both reviews are of the
// same head. It returns an E_INVALID error if a finding is not judged: a blocking one, or any if which is ConfirmAll.
func (r ReviewRecorded) ConfirmReview(before ReviewRecorded, which string) (ReviewRecorded, error) {
	r.Judged = slices.Clone(r.Judged)
	for i := range r.Judged {
		if r.Judged[i].Status == FindingMended {
			r.Judged[i].Status = FindingConfirmed
		}
	}
	blocks := " blocks, and"
	if which == ConfirmAll {
		blocks = ""
	}
	for i, finding := range before.Findings {
		judged := slices.ContainsFunc(r.Judged, func(j Judgement) bool { return j.Number == i+1 })
		switch {
		case judged || finding.Severity != Blocking && which != ConfirmAll:
		case slices.ContainsFunc(r.Findings, finding.isSame):
			r.Judged = append(r.Judged, Judgement{Number: i + 1, Status: FindingConfirmed, Why: basisAgain})
		default:
			return r, E(EInvalid, "finding "+itoa(i+1)+" of the first review"+blocks+" is not judged").
				Fix("judge it in earlier by its number: confirmed, or rejected with a reason")
		}
	}
	slices.SortStableFunc(r.Judged, func(a, b Judgement) int { return cmp.Compare(a.Number, b.Number) })
	r.Confirms = true
	var findings []Finding
	for _, judgement := range r.listConfirmed() {
		finding := before.Findings[judgement.Number-1]
		if finding.Severity == Blocking && r.Verdict == Approve {
			return r, E(EInvalid, "cannot approve: blocking finding "+itoa(judgement.Number)+
				" of the first review is confirmed").
				Fix("request changes, or reject the finding with a reason")
		}
		findings = append(findings, finding)
	}
	for _, finding := range r.Findings {
		if !slices.ContainsFunc(findings, finding.isSame) {
			findings = append(findings, finding)
		}
	}
	r.Findings = findings
	return r, nil
}

// listConfirmed returns the judgements of a second review that confirm a finding. It returns nil for a first review.
func (r ReviewRecorded) listConfirmed() []Judgement {
	var out []Judgement
	for _, judgement := range r.Judged {
		if r.Confirms && judgement.Status == FindingConfirmed {
			out = append(out, judgement)
		}
	}
	return out
}

// EndsSecondLook reports whether this end uses up the second reviewer's only run. A run that failed for an outside
// reason, such as the daemon or a key, is retried later instead. Finally a person is asked.
func (d *RunEnded) EndsSecondLook() bool {
	return d.Status != RunSuccess && !d.Human && !d.isInfrastructureFailure()
}

// reviewerEnded handles the end of a reviewer's run. A second reviewer has one run. If it ends without a verdict, the
// first review takes effect.
func (t *Task) reviewerEnded(sub *Subtask, event Event, runEnded *RunEnded) {
	if sub != nil && sub.Status == SubtaskBlocked {
		if sub.Review.Current = ""; runEnded.Status != RunSuccess { // its summary follows a success
			t.endConflictSummary(sub)
		}
		return
	}
	key := "review"
	review := &t.Review
	reviewing := t.Status == StatusReviewing
	if sub != nil {
		key += " " + string(sub.ID)
		review = &sub.Review
		reviewing = sub.Status == SubtaskReviewing
	}
	review.Current = ""
	if runEnded.EndsSecondLook() && reviewing && t.AwaitsSecondReview(sub) {
		delete(t.Failures, key)
		review.Unconfirmed = review.Last.Head
		if review.Last.Verdict == Approve {
			t.passReview(sub)
		} else {
			t.sendBack(sub)
		}
		return
	}
	t.countError(key, event, runEnded)
}
