package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Feedback is the state of a pull request with people's feedback.
type Feedback struct {
	// State is empty if the forge does not know it (local). The base branch then decides.
	State       company.PRState
	MergeCommit company.OID // when merged
	Head        company.OID // according to the forge; a person may have pushed
	Base        string
	// Conflict means that the forge does not report the branch as mergeable. Some forges also do this for a draft or
	// while they compute the result, so git is asked before any action.
	Conflict bool
	// Pending means that the forge is still computing mergeability or that checks are still running. Read the feedback
	// again later.
	Pending bool
	Items   []Item // sorted by time, then id
}

// ItemKind is the kind of a feedback item.
type ItemKind string

// Kinds of feedback.
const (
	ItemComment ItemKind = "comment" // under the pull request
	ItemLine    ItemKind = "line"    // at a line of its diff
	ItemReview  ItemKind = "review"  // the text of a review
	ItemCheck   ItemKind = "check"   // a check or status that failed
)

// Item is one remark of a person or one failure of a check. Its ID is stable, also after edits, so that each item is
// acted on once.
type Item struct {
	ID      string // comment:12, line:34, review:56, check:78, status:<context>@<head>
	Kind    ItemKind
	Author  string
	Ours    bool   // this office wrote it
	Trusted bool   // the forge reports that its author may push, or it is a check
	Bot     bool   // its author is a program
	Verdict string // of a review: approved | changes_requested | commented | dismissed
	Reply   string // ID of the item that it answers
	// Resolved means that a person resolved its conversation.
	Resolved bool
	Path     string
	Line     int // 0 if there is no line or the diff has changed
	Name     string
	URL      string
	Body     string // cleaned and cut (CleanText), otherwise as written: data, never instructions
	Head     company.OID
	Time     time.Time
}

// MaxItemBytes limits the text of one item.
const MaxItemBytes = 8 << 10

// MaxItems limits the items of one pull request.
const MaxItems = 300

// SortItems sorts items and keeps the newest MaxItems. It drops untrusted items first, so that strangers cannot push
// out requests of people with permission.
func SortItems(items []Item) []Item {
	slices.SortFunc(items, func(item, b Item) int {
		if c := item.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(item.ID, b.ID)
	})
	over := len(items) - MaxItems
	items = slices.DeleteFunc(items, func(it Item) bool {
		if over <= 0 || it.Trusted {
			return false
		}
		over--
		return true
	})
	return items[max(0, len(items)-MaxItems):]
}

// CleanText returns text from a forge without terminal control characters, hidden characters (T18) and invisible
// comments, cut to at most n bytes.
func CleanText(s string, n int) string {
	return safetext.Cut(strings.TrimSpace(safetext.Strip(stripComments(s))), n)
}

// stripComments removes HTML comments. A page does not show them, so they could hide instructions for agents.
func stripComments(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<!--")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, after, ok := strings.Cut(rest, "-->")
		if !ok {
			return b.String()
		}
		s = after
	}
}

// NoteMarker returns the hidden first line of a comment of ours. key must consist of letters, digits and ._:-.
func (r Ref) NoteMarker(key string) string {
	return fmt.Sprintf("<!-- company office=%s task=%s note=%s -->", r.Office, r.Task, key)
}

// ParseNote returns the office and the key of a comment of ours, or empty strings for other comments.
func ParseNote(body string) (office, key string) {
	if m := beginMarker.FindStringSubmatch(body); m != nil && m[5] != "" {
		return m[1], m[5]
	}
	return "", ""
}

// CheckNote returns an error if the key or text is invalid for a comment of ours.
func (r Ref) CheckNote(key, text string) error {
	if m := beginMarker.FindStringSubmatch(r.NoteMarker(key)); m == nil || m[5] != key {
		return company.E(company.EInvalid, fmt.Sprintf("invalid key of a comment: %q", key))
	}
	if strings.TrimSpace(text) == "" {
		return company.E(company.EInvalid, "a comment needs a text")
	}
	return nil
}
