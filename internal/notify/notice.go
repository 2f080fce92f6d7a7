// Package notify tells a president away from the screens that something needs them: by the
// bell of the terminal, the desktop, or a webhook.
//
// It owns which lines of the feed are worth an interruption (a question, a failure, a pull
// request), how notices are gathered into one message (at most one a minute, and none
// of a question answered meanwhile), and the three ways of delivery. It promises that a way that
// fails or hangs holds up neither the office nor another way. It decides nothing about
// tasks, and a message that could not be delivered is not lost: what needs the president is
// in the state of the office.
package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/feed"
	"company/internal/safetext"
)

// Kind is the reason for a notice.
type Kind string

const (
	Question Kind = "question" // an approval, a question of an agent, a budget that is used up
	Failure  Kind = "failure"  // a task failed
	Pull     Kind = "pull_request"
	Office   Kind = "office" // something about the office as a whole
)

// Notice is one matter for the president.
type Notice struct {
	Kind Kind           `json:"kind"`
	Task company.TaskID `json:"task,omitempty"`
	Seq  uint64         `json:"seq"` // of its event
	Time time.Time      `json:"time"`
	Text string         `json:"text"` // a line of the feed, made safe to show
}

// maxText bounds the text of a notice, in bytes.
const maxText = 300

// noticeOf is the notice that a line of the feed is worth; ok is false where it is none.
func noticeOf(it feed.Item) (n Notice, ok bool) {
	n = Notice{Task: it.Task, Seq: it.Seq, Time: it.Time, Text: safetext.EscapeLine(it.Text, maxText)}
	switch {
	case it.Seq == 0 || it.Quiet || it.Kind == "office.stopped": // the president stopped it
		return n, false
	case it.Kind == "task.failed":
		n.Kind = Failure
	case it.Kind == "pr.opened":
		n.Kind = Pull
	case it.Mark == feed.Needs && it.Task == "" && it.Kind != "approval.opened":
		n.Kind = Office
	case it.Mark == feed.Needs:
		n.Kind = Question
	default:
		return n, false
	}
	return n, true
}

// endsReason reports whether a line of the feed ends the reason for a notice.
func endsReason(it feed.Item, n Notice) bool {
	if it.Task != n.Task || it.Seq <= n.Seq {
		return false
	}
	switch it.Kind {
	case "approval.answered", "budget.raised":
		return n.Kind == Question
	case "pr.settled":
		return n.Kind == Pull
	case "task.reopened", "task.cancelled":
		return true
	}
	return false
}

// Message is one delivery.
type Message struct {
	Title   string   `json:"title"`
	Body    string   `json:"body"` // a line for each notice, the newest of many
	Link    string   `json:"link,omitempty"`
	Notices []Notice `json:"notices"`
}

// maxLines bounds the lines of a body. A webhook has all notices beside them.
const maxLines = 5

// newMessage makes a message of notices, of which there is at least one.
func newMessage(notices []Notice, link string) Message {
	m := Message{Notices: slices.Clone(notices), Link: link}
	lines := make([]string, 0, maxLines)
	for _, n := range notices[max(0, len(notices)-maxLines):] {
		lines = append(lines, strings.TrimSpace(string(n.Task)+" "+n.Text))
	}
	m.Body = strings.Join(lines, "\n")
	m.Title = "company: " + sumUp(notices)
	return m
}

// sumUp counts notices by kind: "t1 asks", "3 questions, 1 failure".
func sumUp(notices []Notice) string {
	if len(notices) == 1 {
		n := notices[0]
		if n.Kind == Office {
			return "the office needs you"
		}
		return cmp.Or(string(n.Task), "the office") + " " + map[Kind]string{Question: "asks", Failure: "failed", Pull: "has a pull request"}[n.Kind]
	}
	var parts []string
	for _, k := range []struct {
		kind      Kind
		one, many string
	}{{Question, "question", "questions"}, {Failure, "failure", "failures"}, {Pull, "pull request", "pull requests"}, {Office, "matter of the office", "matters of the office"}} {
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
