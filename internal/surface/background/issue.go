package background

import (
	"encoding/json"

	"company/internal/company"
)

// FormatIssue returns the value of --confirmed-issue, which passes a confirmed issue to the
// background process. It returns "" for nil.
func FormatIssue(ref *company.IssueRef) string {
	if ref == nil {
		return ""
	}
	text, err := json.Marshal(ref)
	if err != nil {
		panic(err) // two texts and a number can always be encoded
	}
	return string(text)
}

// ParseIssue parses the value of --confirmed-issue. It returns nil for "".
func ParseIssue(text string) (*company.IssueRef, error) {
	if text == "" {
		return nil, nil
	}
	ref := new(company.IssueRef)
	if err := json.Unmarshal([]byte(text), ref); err != nil {
		return nil, company.E(company.EUsage, "invalid --confirmed-issue").Wrap(err).Fix("company submit --issue 12")
	}
	return ref, nil
}
