package company

import (
	"fmt"
	"strings"
	"unicode"
)

// IssueRef names the issue of a forge that a task is about. The issue's text is a part
// of the instruction, quoted there: anyone may have written it.
type IssueRef struct {
	Number     int    `json:"number"`
	Repository string `json:"repository"` // as owner/name
	URL        string `json:"url"`        // of its page
}

func (r IssueRef) String() string { return fmt.Sprintf("#%d of %s", r.Number, r.Repository) }

// Bounds of what a task records of its issue.
const (
	maxIssueNumber = 1_000_000_000
	maxIssueURL    = 500
)

// isIssueRepository reports whether a text is owner/name; an owner may have groups. A
// regular expression with these bounds is as large as all others together, and would be
// made at each start.
func isIssueRepository(text string) bool {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 9 {
		return false
	}
	for _, part := range parts {
		odd := func(c rune) bool {
			return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-", c)
		}
		if part == "" || len(part) > 100 || strings.ContainsFunc(part, odd) {
			return false
		}
	}
	return true
}

// validate refuses a reference that names no issue: its parts stand in pull requests and
// on terminals.
func (r *IssueRef) validate() error {
	if r == nil {
		return nil
	}
	scheme, rest, _ := strings.Cut(r.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	odd := func(c rune) bool {
		return unicode.IsSpace(c) || !unicode.IsPrint(c) || strings.ContainsRune("<>\"'`()", c)
	}
	switch {
	case r.Number < 1 || r.Number > maxIssueNumber, !isIssueRepository(r.Repository),
		scheme != "https" && scheme != "http", host == "", strings.ContainsRune(host, '@'), len(r.URL) > maxIssueURL, strings.ContainsFunc(r.URL, odd):
		return E(EInvalid, "the issue of the instruction is none").Because("an issue has a number, a repository as owner/name and the address of its page").Fix("company submit --issue 12")
	}
	return nil
}
