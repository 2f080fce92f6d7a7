package forge

import (
	"slices"
	"strings"

	"company/internal/glob"
	"company/internal/lazyregexp"
)

// CodeOwnerFiles are where a CODEOWNERS file may be; the first one counts.
var CodeOwnerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"}

// MaxCodeOwners bounds the reviews that are asked for.
const MaxCodeOwners = 15

// Limits of a CODEOWNERS file. One beyond them names no owner.
const (
	maxOwnerRules = 10_000
	ownerSteps    = 1 << 30 // of the comparison of all rules with all paths
)

// ownerFieldRE is one field of a line: a backslash takes a blank into it.
var ownerFieldRE = lazyregexp.New(`(?:\\.|\S)+`)

// literalBrackets escapes the signs of classes, which mean themselves in a
// CODEOWNERS file.
var literalBrackets = strings.NewReplacer("[", `\[`, "]", `\]`)

// CodeOwnersOf are the users and teams that a CODEOWNERS text names for some paths,
// without their @; a team is org/team. The last pattern that matches a path
// counts for it. Mail addresses are left out: no forge asks those.
func CodeOwnersOf(text string, paths []string) (users, teams []string) {
	type rule struct {
		globs  []glob.Glob
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
		if rules = append(rules, r); len(rules) > maxOwnerRules {
			return nil, nil
		}
	}
	budget := ownerSteps
	for _, p := range paths {
		for _, r := range slices.Backward(rules) {
			matches := slices.ContainsFunc(r.globs, func(g glob.Glob) bool { return g.MatchWithin(p, &budget) })
			if budget < 0 {
				return nil, nil
			}
			if !matches {
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

// ownerGlobs reads a CODEOWNERS pattern, which follows .gitignore's rules, as
// globs: of the path itself, and of all below it where it may be a folder. A
// pattern that cannot be read has none.
func ownerGlobs(p string) []glob.Glob {
	anchored := strings.Contains(strings.TrimSuffix(p, "/"), "/")
	p = literalBrackets.Replace(strings.TrimPrefix(p, "/"))
	if !anchored {
		p = "**/" + p
	}
	patterns := []string{p, p + "/**"}
	switch {
	case strings.HasSuffix(p, "/"):
		patterns = []string{p + "**"}
	case anchored && strings.HasSuffix(p, "/*"): // one level only
		patterns = patterns[:1]
	}
	var globs []glob.Glob
	for _, pattern := range patterns {
		if g, err := glob.ParsePattern(pattern, glob.Ignore); err == nil {
			globs = append(globs, g)
		}
	}
	return globs
}
