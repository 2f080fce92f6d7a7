package toolproto

import (
	"fmt"
	"strings"
)

// IgnoredFile is an untracked file that a tool wrote and that an ignore rule hides from git.
type IgnoredFile struct {
	Path string `json:"path"`
	Rule string `json:"rule"` // its file, line and pattern
}

func (f IgnoredFile) String() string { return fmt.Sprintf("%s (%s)", f.Path, f.Rule) }

// maxIgnored limits the ignored files that a text lists.
const maxIgnored = 20

// DescribeIgnored tells the model which files that it wrote are in no commit, and what it can do.
func DescribeIgnored(list []IgnoredFile) string {
	var b strings.Builder
	b.WriteString("You wrote these files, and an ignore rule hides them, so that no commit has them:\n")
	for i, file := range list {
		if i == maxIgnored {
			fmt.Fprintf(&b, "and %d more\n", len(list)-i)
			break
		}
		b.WriteString("- " + file.String() + "\n")
	}
	b.WriteString("If one belongs in the work, write it to another path, or change the rule if the ticket is about " +
		"that. If the repository should have it all the same, use git add -f and commit; never for secrets or generated " +
		"files. Remove what is of no use. The president is told of what is still hidden when you finish.")
	return b.String()
}
