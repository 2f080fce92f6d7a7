package merger

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// Limits of reading for a commit's message.
const (
	mostSubjects = 20  // subjects by people, whose style is read
	mostLogged   = 200 // commits that are searched for them
	mostOwn      = 100 // commits of a ticket
)

// parentsOf returns the parents of the commit that merges a ticket into the integration branch at onto. A
// squashed commit has only onto as its parent. A ticket keeps its history if it merged commits from outside:
// commits that people pushed, or the base that was merged to end a conflict. The remote's branch and the pull
// request's base must be in its history. A squashed commit with them as parents would be a merge that contains
// all of the work, which a rebase drops.
func parentsOf(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask, head, onto company.OID,
) ([]company.OID, error) {
	if task.Settings.KeepsHistory() {
		return []company.OID{onto, head}, nil
	}
	for _, other := range commitsOfOthers(task, sub) {
		brought, err := mirror.IsAncestor(ctx, other, head)
		if err == nil && brought {
			brought, err = mirror.IsAncestor(ctx, other, onto)
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

// commitsOfOthers returns the outside commits that a ticket may have merged.
func commitsOfOthers(task *company.Task, sub *company.Subtask) (out []company.OID) {
	if sub.TakenIn != nil {
		out = append(out, sub.TakenIn.Now)
	}
	if target := task.Prepared.Target; target != "" && !slices.Contains(out, target) {
		out = append(out, target)
	}
	return out
}

// writeMessages sets the commit messages of the members of a stack, which are merged onto a commit.
func writeMessages(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, onto company.OID, members []company.StackMember,
) error {
	if task.Settings.KeepsHistory() {
		for i := range members {
			members[i].Message = mergeMessage(task.Subtask(members[i].Subtask))
		}
		return nil
	}
	style, err := readStyle(ctx, mirror, task.Prepared.Base.OID)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // if the log cannot be read, merge without a known style
		style = subjectStyle{}
	}
	for i, member := range members {
		sub := task.Subtask(member.Subtask)
		own, err := mirror.LogWithout(ctx, member.Head, append([]company.OID{onto}, commitsOfOthers(task, sub)...), mostOwn)
		if err != nil {
			return err
		}
		members[i].Message = squashMessage(style, task, sub, own)
	}
	return nil
}

// readStyle returns the style of subjects that people wrote in the log of a commit.
func readStyle(ctx context.Context, m *gitops.Mirror, at company.OID) (subjectStyle, error) {
	commits, err := m.Log(ctx, "", at, mostLogged)
	if err != nil {
		return subjectStyle{}, err
	}
	var subjects []string
	for _, commit := range commits {
		if len(commit.Parents) < 2 && len(subjects) < mostSubjects && !isOfProgram(commit) {
			subjects = append(subjects, commit.Subject())
		}
	}
	return detectStyle(subjects), nil
}

// ticketRE matches a message that names a ticket: before its subject or in the trailer.
var ticketRE = lazyregexp.New(`^\[t\d+-\d+\] |\n` + gitops.TicketTrailer + `: t\d+-\d+(?:\n|$)`)

// isOfProgram reports whether a program wrote a commit: a bot, or an earlier company.
func isOfProgram(commit gitops.Commit) bool {
	return strings.HasSuffix(commit.Author.Name, "[bot]") || strings.Contains(commit.Author.Email, "[bot]@") ||
		strings.HasSuffix(commit.Author.Name, "-bot") || ticketRE.MatchString(commit.Message)
}

// squashMessage returns the message of a ticket's squashed commit. own are the ticket's own commits. The message
// describes the change and its reason, but not its history. Its subject begins with the ticket if the log shows no
// style that this would break.
func squashMessage(style subjectStyle, task *company.Task, sub *company.Subtask, own []gitops.Commit) string {
	title := sub.Planned.Title
	if pull := task.PullTitle(); sub.Planned.IsInstruction() && len(strings.Fields(pull)) > 1 {
		title = pull
	}
	own = slices.DeleteFunc(own, func(c gitops.Commit) bool { return len(c.Parents) > 1 })
	if len(own) == 1 {
		if subject := strings.TrimSpace(
			strings.TrimPrefix(own[0].Subject(), "["+string(sub.ID)+"]")); style.fitsStyle(subject) {
			title = subject
		}
	}
	var paths []string
	for _, c := range sub.Changes {
		paths = append(paths, c.Path)
	}
	subject, whole := style.writeSubject(title, paths, "["+string(sub.ID)+"] ")
	body := lastSummary(task, sub)
	if !whole {
		body = strings.TrimSpace(title + "\n\n" + body)
	}
	return gitops.SquashMessage(string(sub.ID), subject, body)
}

// lastSummary returns the problem and the change from the worker's newest submission. Each submission describes
// the whole change. If only a merger worked on the ticket, it returns the merger's summary.
func lastSummary(task *company.Task, sub *company.Subtask) string {
	var ofWorker, ofMerger string
	for _, run := range task.SummedUp(sub.ID) {
		if run.Role == company.Worker {
			ofWorker = cmp.Or(strings.TrimSpace(run.Problem+"\n\n"+run.Summary), ofWorker)
		} else {
			ofMerger = cmp.Or(run.Summary, ofMerger)
		}
	}
	return cmp.Or(ofWorker, ofMerger)
}
