package reviewer

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lazyregexp"
)

const (
	// maxCommits is how many commits of a branch are looked at, newest first.
	maxCommits = 10_000
	// maxMentions is how many lines of messages are shown.
	maxMentions = 30
	// maxMention is how many bytes of a line, or of names, are shown.
	maxMention = 200
	// maxOtherNames is how many bytes the names of other lines may have.
	maxOtherNames = 4 << 10
)

// mentionRE is a name that a forge notifies: not the host of a mail address,
// and not inside a name.
var mentionRE = lazyregexp.New(`(?:^|[^\w.@/+-])@[A-Za-z0-9][\w-]*`)

// findMentions are the lines of commit messages with an @name that no line before
// has. The reader decides whether it names a package or a person. Of the names
// beyond those lines the reader has a list, and where that is too long, their number:
// no message hides a name from the reader without a note of it.
func findMentions(commits []gitops.Commit) []string {
	var out, others []string
	seen := map[string]bool{}
	for _, c := range commits {
		for line := range strings.Lines(c.Message) {
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
				out = append(out, c.OID.Short()+": "+line)
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

// listNames are names without their lines.
func listNames(names []string) string {
	text := "and in other lines:"
	for i, n := range names {
		if len(n) > maxMention {
			n = n[:maxMention] + "…"
		}
		if len(text)+len(n) > maxOtherNames {
			return text + " and " + company.Count(len(names)-i, "more name") + ", too many to be shown: read the messages, or have them rewritten"
		}
		text += " " + n
	}
	return text
}
