package reviewer

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

const (
	// maxCommits limits the commits of a branch that are searched, newest first.
	maxCommits = 10_000
	// maxMentions limits the lines of messages that are shown.
	maxMentions = 30
	// maxMention limits a shown line, or its names, in bytes.
	maxMention = 200
	// maxOtherNames limits the names from other lines, in bytes.
	maxOtherNames = 4 << 10
)

// mentionRE matches a name that a forge notifies. It does not match the host of a mail address, or an @ inside a
// name.
var mentionRE = lazyregexp.New(`(?:^|[^\w.@/+-])@[A-Za-z0-9][\w-]*`)

// findMentions returns the lines of commit messages with a new @name. The reader decides whether it names a
// package or a person. Names beyond these lines are listed, and if the list is too long, counted. No message can
// therefore hide a name without a note.
func findMentions(commits []gitops.Commit) []string {
	var out, others []string
	seen := map[string]bool{}
	for _, commit := range commits {
		for line := range strings.Lines(commit.Message) {
			line = strings.TrimSpace(line)
			all := mentionRE.FindAllString(line, -1)
			var names []string
			for _, n := range all {
				n = n[strings.IndexByte(n, '@'):]
				if key := strings.ToLower(n); !seen[key] {
					seen[key], names = true, append(names, n)
				}
			}
			switch {
			case len(names) == 0:
				continue
			case len(out) == maxMentions:
				others = append(others, names...)
				continue
			case len(line) > maxMention: // text between the names must not hide one
				line = strings.Join(names, " … ")
				if len(line) > maxMention {
					line, others = "", append(others, names...)
				}
			}
			if line != "" {
				out = append(out, commit.OID.Short()+": "+line)
			}
		}
	}
	if len(others) > 0 {
		out = append(out, listNames(others))
	}
	if len(commits) == maxCommits {
		out = append(out, fmt.Sprintf("commits before the newest %d are not looked at", maxCommits))
	}
	return out
}

// listNames lists names without their lines.
func listNames(names []string) string {
	text := "and in other lines:"
	for i, n := range names {
		if len(n) > maxMention {
			n = n[:maxMention] + "…"
		}
		if len(text)+len(n) > maxOtherNames {
			return text + " and " + company.Count(len(names)-i, "more name") +
				", too many to be shown: read the messages, or have them rewritten"
		}
		text += " " + n
	}
	return text
}
