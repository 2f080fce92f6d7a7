package reviewer

import (
	"strings"

	"company/internal/gitops"
	"company/internal/lazyregexp"
)

const (
	// maxCommits is how many commits of a branch are looked at, newest first.
	maxCommits = 200
	// maxMentions is how many lines of messages are shown.
	maxMentions = 30
	// maxMention is how many bytes of a line are shown.
	maxMention = 200
)

// mentionRE is a name that a forge notifies: not the host of a mail address,
// and not inside a name.
var mentionRE = lazyregexp.New(`(?:^|[^\w.@/+-])@[A-Za-z0-9][\w-]*`)

// findMentions are the lines of commit messages with an @name. The reader
// decides whether it names a package or a person.
func findMentions(commits []gitops.Commit) []string {
	var out []string
	for _, c := range commits {
		for line := range strings.Lines(c.Message) {
			line = strings.TrimSpace(line)
			if !mentionRE.MatchString(line) {
				continue
			}
			if len(out) == maxMentions {
				return append(out, "and more")
			}
			if len(line) > maxMention { // text between the names must not hide one
				line = strings.Join(mentionRE.FindAllString(line, -1), " …")
				line = strings.ToValidUTF8(line[:min(len(line), maxMention)], "")
			}
			out = append(out, c.OID.Short()+": "+line)
		}
	}
	return out
}
