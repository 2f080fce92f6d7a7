package company

import (
	"cmp"
	"slices"
)

// Values of Settings.ConfirmReview: which findings a second reviewer judges before a ticket
// goes back for them.
const (
	ConfirmOff      = "off"      // none: the review stands as it is
	ConfirmBlocking = "blocking" // those that block, on the same head, in one run
)

// AwaitsSecondReview reports whether the newest review of a ticket, or of the whole (nil), asks for
// changes of the present head and no second reviewer has judged its findings (REV-4). It
// follows from the reviews and the settings; no status of its own is stored.
func (t *Task) AwaitsSecondReview(sub *Subtask) bool {
	last, head := t.Review.Last, t.Head
	if sub != nil {
		last, head = sub.Review.Last, sub.Head
	}
	return t.Settings.ConfirmReview == ConfirmBlocking && last != nil && last.Head == head && last.Verdict == RequestChanges && !last.Confirms
}

// ConfirmReview makes the verdict of a second reviewer on the head of the review before. Findings that it
// confirms stand first among its own, so that they bar the merge. It refuses with E_INVALID
// a verdict that leaves a blocking finding without a judgement.
func (r ReviewRecorded) ConfirmReview(before ReviewRecorded) (ReviewRecorded, error) {
	r.Judged = slices.Clone(r.Judged)
	for i, f := range before.Findings {
		judged := slices.ContainsFunc(r.Judged, func(j Judgement) bool { return j.Number == i+1 })
		switch {
		case judged || f.Severity != Blocking:
		case slices.ContainsFunc(r.Findings, f.isSame):
			r.Judged = append(r.Judged, Judgement{Number: i + 1, Status: FindingConfirmed, Why: basisAgain})
		default:
			return r, E(EInvalid, "finding "+itoa(i+1)+" of the first review blocks, and is not judged").
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

// reviewerEnded settles the run of a reviewer. A second reviewer has one run: where it ends
// without a verdict, the first review stands.
func (t *Task) reviewerEnded(sub *Subtask, e Event, d *RunEnded) {
	key, review, reviewing := "review", &t.Review, t.Status == StatusReviewing
	if sub != nil {
		key, review, reviewing = key+" "+string(sub.ID), &sub.Review, sub.Status == SubtaskReviewing
	}
	review.Current = ""
	if d.Status != RunSuccess && reviewing && t.AwaitsSecondReview(sub) {
		delete(t.Failures, key)
		t.sendBack(sub)
		return
	}
	t.countError(key, e, d)
}
