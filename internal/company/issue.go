package company

import (
	"fmt"
	"strings"
	"unicode"
)

// IssueRef identifies the issue of a forge that a task is about. The instruction quotes the issue's text, which anyone
// may have written.
type IssueRef struct {
	Number     int    `json:"number"`
	Repository string `json:"repository"` // as owner/name
	URL        string `json:"url"`        // of its page
}

func (r IssueRef) String() string { return fmt.Sprintf("#%d of %s", r.Number, r.Repository) }

// Limits of the data that a task records about its issue.
const (
	maxIssueNumber = 1_000_000_000
	maxIssueURL    = 500
)

// isIssueRepository reports whether a text is owner/name; the owner may have groups. It avoids a regular expression:
// with these bounds it would be as large as all others together, and would be compiled at each start.
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

// validate refuses an invalid reference, because its fields appear in pull requests and on terminals.
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
		scheme != "https" && scheme != "http", host == "", strings.ContainsRune(host, '@'), len(r.URL) > maxIssueURL,
		strings.ContainsFunc(r.URL, odd):
		return E(EInvalid, "invalid issue of the instruction").
			Because("an issue needs a number, a repository as owner/name and the URL of its page").
			Fix("company submit --issue 12")
	}
	return nil
}
