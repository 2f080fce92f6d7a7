package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
)

// Helpers shared by the drivers of forges on the network.

// LookAgain repeats an attempt with an unclear outcome, with a longer wait each time. Each attempt must first look at
// the result of an earlier one.
func LookAgain(ctx context.Context, tries int, unclear func(error) bool, attempt func() error) error {
	return retry.Policy{Next: func(n int, err error) (time.Duration, bool) {
		return time.Second << n, n+1 < tries && unclear(err)
	}}.Do(ctx, func(int) error { return attempt() })
}

// openTries limits how often one call looks for a pull request and opens it.
const openTries = 4

// OpenOnce finds our pull request or opens it, and updates it. The forge refuses a second open one for a branch.
// After an unclear answer, looking again shows whether it was opened.
func OpenOnce[P any](
	ctx context.Context, pr PR, repo Repo, unclear func(error) bool, findOrCreate func(PR) (P, error),
	update func(PR, P) (OpenedPR, error),
) (OpenedPR, error) {
	pr.Owner = cmp.Or(pr.Owner, repo.Owner)
	var p P
	err := LookAgain(ctx, openTries, unclear, func() (err error) {
		p, err = findOrCreate(pr)
		return err
	})
	if err != nil {
		return OpenedPR{}, err
	}
	return update(pr, p)
}

// HeadIn returns the branch as the repository names it, and whether it is in a fork.
func (p PR) HeadIn(repo Repo) (head string, fork bool) {
	if strings.EqualFold(p.Owner, repo.Owner) {
		return p.Branch, false
	}
	return p.Owner + ":" + p.Branch, true
}

// BranchTaken returns the error for an open pull request of our branch that is not ours.
func (p PR) BranchTaken(number int, url string) error {
	return company.E(company.EConflict,
		fmt.Sprintf("pull request #%d of branch %s does not belong to this office", number, p.Branch)).
		Because("its text lacks the mark of office " + p.Office + " and " + string(p.Task)).
		Fix("close it (" + url + "), then answer with approve to try again").NeedsPerson()
}

// CheckOurs returns an error for a pull request whose text lacks our mark.
func (r Ref) CheckOurs(body, url string) error {
	if IsOurs(body, r.Office, r.Task) {
		return nil
	}
	return company.E(company.EConflict, fmt.Sprintf("pull request #%d does not belong to this office", r.Number)).
		Because("its text lacks the mark of this office").Fix("close it yourself: " + url).NeedsPerson()
}

// Gone returns the error for a pull request that a forge does not have although it shows the repository. err is the
// forge's answer.
func (r Repo) Gone(number int, who string, err error) error {
	return company.E(company.ENotFound, fmt.Sprintf("pull request #%d no longer exists in %s", number, r)).
		Because(who + " shows the repository, but not the pull request").
		Fix("see the repository's pull requests").NeedsPerson().Wrap(errors.Join(ErrPRGone, err))
}

// SentOn returns the error for a repository whose requests are redirected, for example after a rename or transfer.
// err is the answer.
func (r Repo) SentOn(host, to string, err error) error {
	return company.E(company.EForge,
		fmt.Sprintf("%s redirects requests for %s to %s", host, r, cmp.Or(CleanText(to, 300), "another address"))).
		Because("the repository or its owner was renamed or transferred, or this is not the forge's own address").
		Fix("put the new address into the remote (git remote set-url origin ADDRESS), or into forge.url, then: company " +
			"resume").NeedsPerson().Wrap(err)
}

// Archived returns the error for a repository that is archived and cannot be pushed to.
func (r Repo) Archived() error {
	return company.E(company.EForge, fmt.Sprintf("%s is archived", r)).Because("nothing can be pushed to it").
		Fix("unarchive it, then: company resume").NeedsPerson()
}

// SameText compares bodies as forges store them: with CRLF after an edit on the page.
func SameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}

// MissingLabels returns the wanted labels that a pull request lacks.
func (p PR) MissingLabels(has func(label string) bool) []string {
	return slices.DeleteFunc(slices.Clone(p.Labels), has)
}

// RequestReviews requests reviews from people and from teams (given with their organisation). If the whole request is
// refused because one may not review, it requests each alone.
func RequestReviews(users, teams []string, refused func(error) bool, request func(users, teams []string) error) error {
	if len(users)+len(teams) == 0 {
		return nil
	}
	err := request(users, teams)
	if !refused(err) {
		return err
	}
	var all []error
	for _, u := range users {
		all = append(all, request([]string{u}, nil))
	}
	for _, t := range teams {
		all = append(all, request(nil, []string{t}))
	}
	return errors.Join(all...)
}

// TeamSlugs returns teams without their organisation.
func TeamSlugs(teams []string) []string {
	for i, t := range teams {
		teams[i] = t[strings.LastIndexByte(t, '/')+1:]
	}
	return teams
}

// CommentOnce writes a comment of ours, once per key. The first callback reports whether a comment with the key
// exists, and write writes one.
func (r Ref) CommentOnce(
	ctx context.Context, key, text string, unclear func(error) bool, said func() (bool, error),
	write func(body string) error,
) error {
	looked := false // a failed look was retried often enough; a failed write may have arrived
	return LookAgain(ctx, 3, func(err error) bool { return looked && unclear(err) }, func() error {
		looked = false
		if done, err := said(); done || err != nil {
			return err
		}
		looked = true
		return write(r.NoteMarker(key) + "\n" + strings.TrimSpace(text))
	})
}

// QuietError keeps an error for errors.As without repeating its text.
type QuietError struct {
	Status int // of HTTP
	Err    error
}

func (q *QuietError) Error() string { return fmt.Sprint("HTTP ", q.Status) }
func (q *QuietError) Unwrap() error { return q.Err }

// MergeablePull is the state of a pull request that a driver reads before the merge.
type MergeablePull struct {
	State company.PRState
	Head  company.OID
	Base  string
	Body  string
	URL   string
}

// MergeOnce merges a pull request of ours at a head into a base, once. look returns its state, and merge asks the
// forge to merge it if its head is unchanged. If an answer is lost, MergeOnce looks again.
func (r Ref) MergeOnce(
	ctx context.Context, head company.OID, base string, unclear func(error) bool, look func() (MergeablePull, error),
	merge func() error,
) error {
	merging := false // a failed look was retried often enough; a failed merge may be done
	return LookAgain(ctx, 3, func(err error) bool { return merging && unclear(err) }, func() error {
		merging = false
		pull, err := look()
		switch {
		case err != nil:
			return err
		case pull.State == company.PRMerged:
			return nil
		case pull.State != company.PROpen:
			return company.E(company.EConflict, fmt.Sprintf("pull request #%d is %s", r.Number, pull.State)).
				Fix("open it again at " + pull.URL + ", or submit a new task").NeedsPerson()
		case pull.Head != head:
			return company.E(company.EConflict,
				fmt.Sprintf("pull request #%d is at %s, but %s was checked and reviewed", r.Number, pull.Head.Short(),
					head.Short())).
				Because("somebody pushed to its branch").
				Fix(fmt.Sprintf("company submit --follows %s %q has the rest checked; or merge it as it is at %s", r.Task, "…",
					pull.URL)).NeedsPerson()
		case pull.Base != base:
			return company.E(company.EConflict,
				fmt.Sprintf("pull request #%d has the base %s, but was delivered for %s", r.Number, pull.Base, base)).
				Because("somebody changed its base at the forge").
				Fix(fmt.Sprintf("where that is meant, merge it at %s, then: company pr sync %d; else set its base to %s there",
					pull.URL, r.Number, base)).NeedsPerson()
		}
		if err := r.CheckOurs(pull.Body, pull.URL); err != nil {
			return err
		}
		merging = true
		return merge()
	})
}

// MergeRefused returns the error for a refused merge, with the forge's reason.
func (r Ref) MergeRefused(reason, url string, err error) error {
	return company.E(company.EConflict, fmt.Sprintf("the forge refuses to merge pull request #%d", r.Number)).
		Because(reason).
		Fix("see " + url).NeedsPerson().Wrap(err)
}
