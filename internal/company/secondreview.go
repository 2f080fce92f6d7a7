package company

import (
	"cmp"
	"slices"
)

// Values of Settings.ConfirmReview: which findings a second reviewer judges, on the same head and in one
// run, before anything follows from the review.
const (
	ConfirmOff      = "off"      // none: the review stands as it is
	ConfirmBlocking = "blocking" // those that block
	ConfirmAll      = "all"      // all, those of an approving review, too
)

// AwaitsSecondReview reports whether the newest review of a ticket, or of the whole (nil), is of the present
// head and has findings that a second reviewer is to judge and has not judged (REV-4). What the president
// let pass needs no more of it. It follows from the reviews and the settings; no status of its own is stored.
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

// isWholeApproved says whether the review of the whole lets the task be delivered.
func (t *Task) isWholeApproved() bool {
	return t.Review.Allows(t.Head) && !t.AwaitsSecondReview(nil) || t.IsReviewedInParts()
}

// ConfirmReview makes the verdict of a second reviewer on the head of the review before. Findings that it
// confirms stand first among its own, so that those that block bar the merge. It refuses with E_INVALID
// a verdict that leaves a finding without a judgement: one that blocks, or any with ConfirmAll for which.
func (r ReviewRecorded) ConfirmReview(before ReviewRecorded, which string) (ReviewRecorded, error) {
	r.Judged = slices.Clone(r.Judged)
	blocks := " blocks, and"
	if which == ConfirmAll {
		blocks = ""
	}
	for i, f := range before.Findings {
		judged := slices.ContainsFunc(r.Judged, func(j Judgement) bool { return j.Number == i+1 })
		switch {
		case judged || f.Severity != Blocking && which != ConfirmAll:
		case slices.ContainsFunc(r.Findings, f.isSame):
			r.Judged = append(r.Judged, Judgement{Number: i + 1, Status: FindingConfirmed, Why: basisAgain})
		default:
			return r, E(EInvalid, "finding "+itoa(i+1)+" of the first review"+blocks+" is not judged").
				Fix("judge it in earlier, by its number: confirmed if it is right, or rejected and why")
		}
	}
	slices.SortStableFunc(r.Judged, func(a, b Judgement) int { return cmp.Compare(a.Number, b.Number) })
	r.Confirms = true
	var all []Finding
	for _, j := range r.listConfirmed() {
		f := before.Findings[j.Number-1]
		if f.Severity == Blocking && r.Verdict == Approve {
			return r, E(EInvalid, "approved, and finding "+itoa(j.Number)+" of the first review, which blocks, is confirmed").
				Fix("request changes; or reject the finding, and say why")
		}
		all = append(all, f)
	}
	for _, f := range r.Findings {
		if !slices.ContainsFunc(all, f.isSame) {
			all = append(all, f)
		}
	}
	r.Findings = all
	return r, nil
}

// listConfirmed are the judgements of a second review that confirm a finding; none: it is no second
// review.
func (r ReviewRecorded) listConfirmed() []Judgement {
	var out []Judgement
	for _, j := range r.Judged {
		if r.Confirms && j.Status == FindingConfirmed {
			out = append(out, j)
		}
	}
	return out
}

// EndsSecondLook says whether a second reviewer's run that ended so was the one look that there is. One
// that broke by no fault of its own, as of the daemon or of a key, is tried again later, and at last a person
// is asked. By rules before 5 each was.
func (d *RunEnded) EndsSecondLook(settings Settings) bool {
	return d.Status != RunSuccess && (settings.Rules < 5 || !d.Human && !d.isInfrastructureFailure())
}

// reviewerEnded settles the run of a reviewer. A second reviewer has one run: where it ends
// without a verdict, the first review stands.
func (t *Task) reviewerEnded(sub *Subtask, e Event, d *RunEnded) {
	key, review, reviewing := "review", &t.Review, t.Status == StatusReviewing
	if sub != nil {
		key, review, reviewing = key+" "+string(sub.ID), &sub.Review, sub.Status == SubtaskReviewing
	}
	review.Current = ""
	if d.EndsSecondLook(t.Settings) && reviewing && t.AwaitsSecondReview(sub) {
		delete(t.Failures, key)
		approved := review.Last.Verdict == Approve
		if approved || t.Settings.Rules >= 5 {
			review.Unconfirmed = review.Last.Head
		}
		if approved {
			t.passReview(sub)
		} else {
			t.sendBack(sub)
		}
		return
	}
	t.countError(key, e, d)
}
