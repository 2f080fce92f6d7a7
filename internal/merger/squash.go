package merger

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"company/internal/commitstyle"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lazyregexp"
)

// Bounds of the reading for a commit's message.
const (
	mostSubjects = 50  // of people, whose style is read
	mostLogged   = 200 // commits that are looked through for them
	mostOwn      = 100 // commits of a ticket
)

// parentsOf are the parents of the commit that brings a ticket to the integration branch,
// which stands at onto. Of a squashed one that is onto alone. A ticket that has merged commits of
// others keeps its history: those that people pushed, and the base that was merged to end a conflict. The
// remote's branch and the pull request's base have to be in it, and a squashed commit with them for
// parents would be a merge with all of the work in it, which a rebase drops.
func parentsOf(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask, head, onto company.OID) ([]company.OID, error) {
	if t.Settings.KeepsHistory() {
		return []company.OID{onto, head}, nil
	}
	for _, other := range commitsOfOthers(t, sub) {
		brought, err := m.IsAncestor(ctx, other, head)
		if err == nil && brought {
			brought, err = m.IsAncestor(ctx, other, onto)
			brought = !brought
		}
		if err != nil {
			return nil, err
		}
		if brought {
			return []company.OID{onto, head}, nil
		}
	}
	return []company.OID{onto}, nil
}

// commitsOfOthers are the commits of others that a ticket may have merged.
func commitsOfOthers(t *company.Task, sub *company.Subtask) (out []company.OID) {
	if sub.TakenIn != nil {
		out = append(out, sub.TakenIn.Now)
	}
	if target := t.Prepared.Target; target != "" && !slices.Contains(out, target) {
		out = append(out, target)
	}
	return out
}

// writeMessages gives the members of a stack, which are merged onto a commit, the messages of
// their commits.
func writeMessages(ctx context.Context, m *gitops.Mirror, t *company.Task, onto company.OID, members []company.StackMember) error {
	if t.Settings.KeepsHistory() {
		for i := range members {
			members[i].Message = mergeMessage(t.Subtask(members[i].Subtask))
		}
		return nil
	}
	style, err := readStyle(ctx, m, t.Prepared.Base.OID)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // of a log that cannot be read no style is known, and the work is merged all the same
		style = commitstyle.Style{}
	}
	for i, member := range members {
		sub := t.Subtask(member.Subtask)
		own, err := m.LogWithout(ctx, member.Head, append([]company.OID{onto}, commitsOfOthers(t, sub)...), mostOwn)
		if err != nil {
			return err
		}
		members[i].Message = squashMessage(style, t, sub, own)
	}
	return nil
}

// readStyle is the style of the subjects that people wrote in the log of a commit.
func readStyle(ctx context.Context, m *gitops.Mirror, at company.OID) (commitstyle.Style, error) {
	commits, err := m.Log(ctx, "", at, mostLogged)
	if err != nil {
		return commitstyle.Style{}, err
	}
	var subjects []string
	for _, c := range commits {
		if len(c.Parents) < 2 && len(subjects) < mostSubjects && !isOfProgram(c) {
			subjects = append(subjects, c.Subject())
		}
	}
	return commitstyle.ReadStyle(subjects), nil
}

// ticketSubjectRE begins a commit of a worker, where the history is kept.
var ticketSubjectRE = lazyregexp.New(`^\[t\d+-\d+\] `)

// isOfProgram reports whether a program wrote a commit: a bot, or a company before.
func isOfProgram(c gitops.Commit) bool {
	return strings.HasSuffix(c.Author.Name, "[bot]") || strings.Contains(c.Author.Email, "[bot]@") || strings.HasSuffix(c.Author.Name, "-bot") ||
		strings.Contains(c.Message, "\n"+gitops.TicketTrailer+": ") || ticketSubjectRE.MatchString(c.Message)
}

// squashMessage is the message of the one commit of a ticket, whose own commits were these: what
// was done and why, without how it came to that.
func squashMessage(style commitstyle.Style, t *company.Task, sub *company.Subtask, own []gitops.Commit) string {
	title := sub.Planned.Title
	if pull := t.PullTitle(); sub.Planned.IsInstruction() && len(strings.Fields(pull)) > 1 {
		title = pull
	}
	own = slices.DeleteFunc(own, func(c gitops.Commit) bool { return len(c.Parents) > 1 })
	if len(own) == 1 {
		if subject := strings.TrimSpace(strings.TrimPrefix(own[0].Subject(), "["+string(sub.ID)+"]")); style.FitsStyle(subject) {
			title = subject
		}
	}
	var paths []string
	for _, c := range sub.Changes {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	subject, whole := style.WriteSubject(title, paths)
	body := lastSummary(t, sub)
	if !whole {
		body = strings.TrimSpace(title + "\n\n" + body)
	}
	return gitops.SquashMessage(string(sub.ID), subject, body)
}

// lastSummary is the problem and the change as the worker wrote them when it handed in the newest work of a
// ticket: each is of the whole change. Of a ticket that only a merger worked on it is that one's.
func lastSummary(t *company.Task, sub *company.Subtask) string {
	var ofWorker, ofMerger string
	for _, r := range t.SummedUp(sub.ID) {
		if r.Role == company.Worker {
			ofWorker = cmp.Or(strings.TrimSpace(r.Problem+"\n\n"+r.Summary), ofWorker)
		} else {
			ofMerger = cmp.Or(r.Summary, ofMerger)
		}
	}
	return cmp.Or(ofWorker, ofMerger)
}
