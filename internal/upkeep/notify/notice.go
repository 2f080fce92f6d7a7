// Package notify notifies a president away from the screens, by the bell of the terminal, the desktop or a
// webhook.
//
// It chooses the lines of the feed that are worth an interruption: a question, a failure or a pull request. It gathers
// notices into one message, at most one a minute, and drops questions that were answered meanwhile. A way of delivery
// that fails or hangs delays neither the office nor other ways. The package makes no decisions about tasks. A message
// that cannot be delivered is not lost, because the office's state shows what needs the president.
package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
)

// Kind is the reason for a notice.
type Kind string

const (
	Question Kind = "question" // an approval, an agent's question, a used-up budget
	Failure  Kind = "failure"  // a task failed
	Pull     Kind = "pull_request"
	Office   Kind = "office" // concerns the whole office
)

// Notice is a single message for the president.
type Notice struct {
	Kind Kind           `json:"kind"`
	Task company.TaskID `json:"task,omitempty"`
	Seq  uint64         `json:"seq"` // number of its event
	Time time.Time      `json:"time"`
	Text string         `json:"text"` // a line of the feed, escaped for display
}

// maxText limits the text of a notice, in bytes.
const maxText = 300

// noticeOf returns the notice for a line of the feed. ok is false if the line needs no notice.
func noticeOf(item feed.Item) (notice Notice, ok bool) {
	notice = Notice{Task: item.Task, Seq: item.Seq, Time: item.Time, Text: safetext.EscapeLine(item.Text, maxText)}
	switch {
	case item.Seq == 0 || item.Quiet || item.Kind == "office.stopped": // the president stopped it
		return notice, false
	case item.Kind == "task.failed":
		notice.Kind = Failure
	case item.Kind == "pr.opened":
		notice.Kind = Pull
	case item.Mark == feed.Needs && item.Task == "" && item.Kind != "approval.opened":
		notice.Kind = Office
	case item.Mark == feed.Needs:
		notice.Kind = Question
	default:
		return notice, false
	}
	return notice, true
}

// endsReason reports whether a line of the feed makes a notice obsolete.
func endsReason(item feed.Item, notice Notice) bool {
	if item.Task != notice.Task || item.Seq <= notice.Seq {
		return false
	}
	switch item.Kind {
	case "approval.answered", "budget.raised":
		return notice.Kind == Question
	case "pr.settled":
		return notice.Kind == Pull
	case "task.reopened", "task.cancelled":
		return true
	}
	return false
}

// Message is one delivery of notices.
type Message struct {
	Title   string   `json:"title"`
	Body    string   `json:"body"` // a line for each notice, only the newest if there are many
	Link    string   `json:"link,omitempty"`
	Notices []Notice `json:"notices"`
}

// maxLines limits the lines of a body. A webhook also gets all notices.
const maxLines = 5

// newMessage makes a message of one or more notices.
func newMessage(notices []Notice, link string) Message {
	message := Message{Notices: slices.Clone(notices), Link: link}
	lines := make([]string, 0, maxLines)
	for _, n := range notices[max(0, len(notices)-maxLines):] {
		lines = append(lines, strings.TrimSpace(string(n.Task)+" "+n.Text))
	}
	message.Body = strings.Join(lines, "\n")
	message.Title = "company: " + sumUp(notices)
	return message
}

// sumUp counts notices by kind, such as "t1 asks" or "3 questions, 1 failure".
func sumUp(notices []Notice) string {
	if len(notices) == 1 {
		notice := notices[0]
		if notice.Kind == Office {
			return "the office needs you"
		}
		return cmp.Or(string(notice.Task), "the office") + " " +
			map[Kind]string{Question: "asks", Failure: "failed", Pull: "has a pull request"}[notice.Kind]
	}
	var parts []string
	for _, k := range []struct {
		kind      Kind
		one, many string
	}{{Question, "question", "questions"}, {Failure, "failure", "failures"}, {Pull, "pull request", "pull requests"},
		{Office, "matter of the office", "matters of the office"}} {
		n := 0
		for _, one := range notices {
			if one.Kind == k.kind {
				n++
			}
		}
		switch n {
		case 0:
		case 1:
			parts = append(parts, "1 "+k.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.many))
		}
	}
	return strings.Join(parts, ", ")
}
