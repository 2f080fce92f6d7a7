package forge

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"company/internal/lazyregexp"
)

// CodeOwnerFiles are where a CODEOWNERS file may be; the first one counts.
var CodeOwnerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"}

// MaxCodeOwners bounds the reviews that are asked for.
const MaxCodeOwners = 15

// ownerFieldRE is one field of a line: a backslash takes a blank into it.
var ownerFieldRE = lazyregexp.New(`(?:\\.|\S)+`)

// literalBrackets escapes the signs of other globs, which mean themselves in a
// CODEOWNERS file.
var literalBrackets = strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// CodeOwnersOf are the users and teams that a CODEOWNERS text names for some paths,
// without their @; a team is org/team. The last pattern that matches a path
// counts for it. Mail addresses are left out: no forge asks those.
func CodeOwnersOf(text string, paths []string) (users, teams []string) {
	type rule struct {
		globs  []string
		owners []string
	}
	var rules []rule
	for line := range strings.SplitSeq(text, "\n") {
		f := ownerFieldRE.FindAllString(line, -1)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		r := rule{globs: ownerGlobs(f[0])}
		for _, o := range f[1:] {
			if strings.HasPrefix(o, "#") {
				break
			}
			if name, ok := strings.CutPrefix(o, "@"); ok && name != "" {
				r.owners = append(r.owners, name)
			}
		}
		rules = append(rules, r)
	}
	for _, p := range paths {
		for _, r := range slices.Backward(rules) {
			if !slices.ContainsFunc(r.globs, func(g string) bool { return doublestar.MatchUnvalidated(g, p) }) {
				continue
			}
			for _, o := range r.owners {
				to := &users
				if strings.Contains(o, "/") {
					to = &teams
				}
				if !slices.Contains(*to, o) && len(users)+len(teams) < MaxCodeOwners {
					*to = append(*to, o)
				}
			}
			break
		}
	}
	return users, teams
}

// ownerGlobs writes a CODEOWNERS pattern, which follows .gitignore's rules, as
// globs: of the path itself, and of all below it where it may be a folder.
func ownerGlobs(p string) []string {
	anchored := strings.Contains(strings.TrimSuffix(p, "/"), "/")
	p = literalBrackets.Replace(strings.TrimPrefix(p, "/"))
	if !anchored {
		p = "**/" + p
	}
	switch {
	case strings.HasSuffix(p, "/"):
		return []string{p + "**"}
	case anchored && strings.HasSuffix(p, "/*"): // one level only
		return []string{p}
	}
	return []string{p, p + "/**"}
}
