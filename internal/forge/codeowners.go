package forge

import (
	"slices"
	"strings"

	"company/internal/company/glob"
	"company/internal/lib/lazyregexp"
)

// MaxCodeOwners limits the requested reviews.
const MaxCodeOwners = 15

// Limits of a CODEOWNERS file. A file beyond them yields no owners.
const (
	maxOwnerRules = 10_000
	ownerSteps    = 1 << 30 // for comparing all rules with all paths
)

// ownerFieldRE matches one field of a line. A backslash escapes a blank.
var ownerFieldRE = lazyregexp.New(`(?:\\.|\S)+`)

// literalBrackets escapes brackets, which are literal in a CODEOWNERS file.
var literalBrackets = strings.NewReplacer("[", `\[`, "]", `\]`)

// CodeOwnersOf returns the users and teams that a CODEOWNERS text names for some paths, without their @. A team is
// org/team. The last pattern that matches a path counts for it. Mail addresses are ignored, because no forge can
// request their review.
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

// ownerGlobs converts a CODEOWNERS pattern, which follows .gitignore's rules, to globs: for the path itself, and for
// everything below it if it may be a folder. It skips globs that are invalid.
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
