package detach

import (
	"encoding/json"

	"company/internal/company"
)

// FormatIssue returns the value of --confirmed-issue, by which the process in the background learns the
// issue that a person has confirmed. Of nil it is empty.
func FormatIssue(ref *company.IssueRef) string {
	if ref == nil {
		return ""
	}
	text, err := json.Marshal(ref)
	if err != nil {
		panic(err) // of two texts and a number
	}
	return string(text)
}

// ParseIssue reads the value of --confirmed-issue.
func ParseIssue(text string) (*company.IssueRef, error) {
	if text == "" {
		return nil, nil
	}
	ref := new(company.IssueRef)
	if err := json.Unmarshal([]byte(text), ref); err != nil {
		return nil, company.E(company.EUsage, "--confirmed-issue names no issue").Wrap(err).Fix("company submit --issue 12")
	}
	return ref, nil
}
