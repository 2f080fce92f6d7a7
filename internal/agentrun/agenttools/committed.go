package agenttools

import (
	"context"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// maxBypassed limits the files that a text lists.
const maxBypassed = 20

// describeCommit returns what the agent must know about a commit and has not read yet: the files that bypass an
// attribute of git, and the written files that no commit has. It returns "" if there is nothing new.
func (f *toolFactory) describeCommit(ctx context.Context, head company.OID, ignored []toolproto.IgnoredFile) string {
	var parts []string
	if text := f.describeBypassed(ctx, head); text != "" {
		parts = append(parts, text)
	}
	var fresh []toolproto.IgnoredFile
	for _, file := range ignored {
		if f.isNews(file.String()) {
			fresh = append(fresh, file)
		}
	}
	if len(fresh) > 0 {
		parts = append(parts, toolproto.DescribeIgnored(fresh))
	}
	return strings.Join(parts, "\n")
}

// isNews reports whether the agent has not read a line yet, and notes that it reads it now.
func (f *toolFactory) isNews(line string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil {
		f.told = map[string]bool{}
	}
	known := f.told[line]
	f.told[line] = true
	return !known
}

func (f *toolFactory) describeBypassed(ctx context.Context, head company.OID) string {
	if f.Bypassed == nil {
		return ""
	}
	files, err := f.Bypassed(ctx, head)
	if err != nil {
		// The commit stands, and the files are looked for again before a push.
		return "Whether filters of .gitattributes cover these files is not known: " + err.Error()
	}
	var fresh []gitops.BypassedFile
	asks := false
	for _, file := range files {
		if f.isNews(file.Path + " " + string(file.By)) {
			fresh = append(fresh, file)
			asks = asks || file.By.NeedsLeave()
		}
	}
	if len(fresh) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("No filter and no conversion of .gitattributes runs here: files are committed as they are written. " +
		"These are not what their attributes demand:\n")
	for i, file := range fresh {
		if i == maxBypassed {
			fmt.Fprintf(&b, "and %d more\n", len(fresh)-i)
			break
		}
		fmt.Fprintf(&b, "- %s (%s): %s\n", file.Path, file.By, file.By.Explain())
	}
	b.WriteString("Unless the ticket is about them, put them back as they were, or put the content elsewhere, and " +
		"commit. Do not change .gitattributes for it. If they have to stay, say in risks what a person has to do where the " +
		"filter is set up (git add --renormalize).")
	if asks {
		b.WriteString(" The president is asked before such a file is pushed.")
	}
	return b.String()
}

// listLeftOut returns a line for the president about the written files that are not in the change, if there are any.
func listLeftOut(ignored []toolproto.IgnoredFile) []string {
	if len(ignored) == 0 {
		return nil
	}
	names := make([]string, len(ignored))
	for i, file := range ignored {
		names[i] = file.String()
	}
	return []string{"Written, but not in the change, hidden by an ignore rule: " + strings.Join(names, ", ")}
}
