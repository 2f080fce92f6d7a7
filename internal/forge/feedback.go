package forge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Feedback is what has become of a pull request.
type Feedback struct {
	// State is empty where the forge cannot tell (local): then the base branch
	// does.
	State       company.PRState
	MergeCommit company.OID // when merged
	Head        company.OID // as the forge has it; a person may have pushed
	Base        string
	// Conflict: the forge does not say that the branch merges into its base.
	// Some forges say the same of a draft, and while they work it out, so git
	// is asked before anything is done about it.
	Conflict bool
	// Pending: the forge has not worked out yet whether it merges, or checks
	// are still under way. Look again later.
	Pending bool
	Items   []Item // by time, then id
}

// ItemKind is what sort of feedback an item is.
type ItemKind string

// Kinds of feedback.
const (
	ItemComment ItemKind = "comment" // under the pull request
	ItemLine    ItemKind = "line"    // at a line of its diff
	ItemReview  ItemKind = "review"  // the text of a review
	ItemCheck   ItemKind = "check"   // a check or status that failed
)

// Item is one remark of a person or one failure of a check. Its ID is the same
// whenever it is read, so each is acted on once; an item that was edited keeps
// it.
type Item struct {
	ID      string // comment:12, line:34, review:56, check:78, status:<context>@<head>
	Kind    ItemKind
	Author  string
	Ours    bool   // this office wrote it
	Trusted bool   // the forge says that its author may push, or it is a check's
	Bot     bool   // its author is a program
	Verdict string // of a review: approved | changes_requested | commented | dismissed
	Reply   string // ID of the item that it answers
	// Resolved: a person ended its conversation.
	Resolved bool
	Path     string
	Line     int // 0: no line, or the diff moved on
	Name     string
	URL      string
	Body     string // cleaned and cut (CleanText), but for the rest as it was written: data, never instructions
	Head     company.OID
	Time     time.Time
}

// MaxItemBytes bounds the text of one item.
const MaxItemBytes = 8 << 10

// MaxItems bounds the items of one pull request.
const MaxItems = 300

// SortItems brings items into their order and keeps the newest MaxItems. Of more, those that
// are not heard go first: strangers must not push out what a person with the right asks for.
func SortItems(items []Item) []Item {
	slices.SortFunc(items, func(a, b Item) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
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

// CleanText is text from a forge without what steers a terminal, hides in a line
// (T18) or is a comment that people do not see, at most n bytes.
func CleanText(s string, n int) string {
	return safetext.Cut(strings.TrimSpace(safetext.Strip(stripComments(s))), n)
}

// stripComments drops HTML comments: a page does not show them, so they can
// hide instructions for agents.
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

// NoteMarker is the hidden line of a comment of ours. key must be made of
// letters, digits and ._:-.
func (r Ref) NoteMarker(key string) string {
	return fmt.Sprintf("<!-- company office=%s task=%s note=%s -->", r.Office, r.Task, key)
}

// ParseNote is the office and the key of a comment of ours; empty for any other
// comment.
func ParseNote(body string) (office, key string) {
	if m := beginMarker.FindStringSubmatch(body); m != nil && m[5] != "" {
		return m[1], m[5]
	}
	return "", ""
}

// CheckNote refuses what cannot be a comment of ours.
func (r Ref) CheckNote(key, text string) error {
	if m := beginMarker.FindStringSubmatch(r.NoteMarker(key)); m == nil || m[5] != key {
		return company.E(company.EInvalid, fmt.Sprintf("%q cannot be the key of a comment", key))
	}
	if strings.TrimSpace(text) == "" {
		return company.E(company.EInvalid, "a comment says something")
	}
	return nil
}
