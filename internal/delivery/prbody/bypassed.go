package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops/cleanfilter"
)

// listBypassed lists the changed files whose content bypasses an attribute of git, by the last ticket that changed
// each.
func listBypassed(task *company.Task) []company.Change {
	last := map[string]company.Change{}
	for _, sub := range mergedTickets(task) {
		for _, change := range sub.Changes {
			last[change.Path] = change
		}
	}
	var out []company.Change
	for _, path := range ChangedPaths(task) {
		if change := last[path]; change.Bypassed != "" && change.Action != "deleted" {
			out = append(out, change)
		}
	}
	return out
}

// prBypassed lists the files that are stored as they were written although .gitattributes demands something else.
func prBypassed(task *company.Task, prOptions PROptions) string {
	list := listBypassed(task)
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Files that no filter has passed\n\nFilters and conversions of `.gitattributes` do not run in the " +
		"company. Where a filter is set up, `git add --renormalize` applies it:\n\n")
	limit := max(prOptions.maxRows, 4)
	for i, change := range list {
		if i == limit {
			fmt.Fprintf(&b, "- %d more files\n", len(list)-limit)
			break
		}
		fmt.Fprintf(&b, "- %s: %s, %s\n", codeSpan(change.Path), codeSpan(change.Bypassed),
			escapeMarkdown(cleanfilter.Bypass(change.Bypassed).Explain()))
	}
	return b.String()
}
