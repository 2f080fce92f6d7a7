package company

import (
	"fmt"
	"regexp"
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

// issueRepositoryRE matches owner/name; an owner may have groups.
var issueRepositoryRE = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}(/[A-Za-z0-9._-]{1,100}){1,8}$`)

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
	case r.Number < 1 || r.Number > maxIssueNumber, !issueRepositoryRE.MatchString(r.Repository),
		scheme != "https" && scheme != "http", host == "", strings.ContainsRune(host, '@'), len(r.URL) > maxIssueURL, strings.ContainsFunc(r.URL, odd):
		return E(EInvalid, "the issue of the instruction is none").Because("an issue has a number, a repository as owner/name and the address of its page").Fix("company submit --issue 12")
	}
	return nil
}
